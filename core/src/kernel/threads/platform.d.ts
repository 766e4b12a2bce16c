// The little of Node that the files for Node use. With Node's own types all of core could name what only Node has.

declare module "node:os" {
  export function availableParallelism(): number;
}

declare module "node:timers" {
  export interface Timer {
    unref(): void;
  }
  export function setTimeout(act: () => void, milliseconds?: number): Timer;
  export function clearTimeout(timer: Timer | undefined): void;
}

declare module "node:worker_threads" {
  export class Worker {
    constructor(text: string, options: { eval: true; workerData: object; execArgv: string[] });
    constructor(file: URL, options: { execArgv: string[] });
    on(event: "error", listener: (error: Error) => void): this;
    on<Message>(event: "message", listener: (message: Message) => void): this;
    on(event: "exit", listener: () => void): this;
    once(event: "message" | "exit", listener: () => void): this;
    postMessage(message: unknown): void;
    ref(): void;
    terminate(): Promise<number>;
    unref(): void;
  }
  export const parentPort: {
    on<Message>(event: "message", listener: (message: Message) => void): void;
    postMessage(message: unknown): void;
  } | null;
}
