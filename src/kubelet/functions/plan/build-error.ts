/** A function cannot be built as it is: the message is for its author. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}
