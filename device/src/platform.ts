// What libp2p expects of the platform and Node 20 lacks: Promise.withResolvers and WebSocket.

/** libp2p's handshake needs it. */
export function provideWithResolvers(): void {
  if ("withResolvers" in Promise) return;
  const value = <T>() => {
    let resolve: ((value: T | PromiseLike<T>) => void) | undefined;
    let reject: ((reason?: unknown) => void) | undefined;
    const promise = new Promise<T>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    return { promise, resolve, reject };
  };
  Object.defineProperty(Promise, "withResolvers", { value, configurable: true, writable: true });
}

/** libp2p dials with the platform's own. */
export async function provideWebSocket(): Promise<void> {
  if ("WebSocket" in globalThis) return;
  const { WebSocket } = await import("ws");
  Object.defineProperty(globalThis, "WebSocket", { value: WebSocket, configurable: true, writable: true });
}
