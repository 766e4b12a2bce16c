// The little of Node that the files for Node use. With Node's own types all of core could name what only Node has.

declare module "node:os" {
  export function availableParallelism(): number;
}

declare module "node:worker_threads" {
  export class Worker {
    constructor(text: string, options: { eval: true; workerData: object; execArgv: string[] });
    constructor(file: URL, options: { workerData: object; execArgv: string[] });
    on(event: "error", listener: (error: Error) => void): this;
    on<Message>(event: "message", listener: (message: Message) => void): this;
    once(event: "message" | "exit", listener: () => void): this;
    terminate(): Promise<number>;
    unref(): void;
  }
  export const workerData: unknown;
  export const parentPort: { postMessage(message: unknown): void } | null;
}
