// Being told to stop: by a person at the terminal, by the system, or because the program that started us is gone.

/** Resolves to what came first; after that each of them does again what it does by default. */
export function untilStopped(): Promise<string> {
  const events = ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"] as const;
  return new Promise((resolve) => {
    const listeners = events.map((event) => [event, () => stop(event)] as const);
    const stop = (event: string) => {
      for (const [other, listener] of listeners) process.removeListener(other, listener);
      resolve(event);
    };
    for (const [event, listener] of listeners) process.on(event, listener);
  });
}
