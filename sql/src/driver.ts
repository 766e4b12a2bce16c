// Drivers are installed by those who need them: what is said where one is missing.

/** A failure that the user can mend, in one line. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

export async function importDriver<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new SourceError(`${name} is not installed, and this source needs it: npm install ${name}`);
  }
}
