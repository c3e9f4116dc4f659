/** What was typed, or written in a configuration file, cannot be acted on: main prints one line and exits 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
