/**
 * Thrown for invalid arguments or an invalid configuration file: main prints one line and exits with status
 * 2.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
