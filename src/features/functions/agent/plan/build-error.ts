/** The function cannot be built as it is defined; the message is for its author. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}
