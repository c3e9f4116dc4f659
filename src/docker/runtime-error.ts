/** How work of the container engine fails. */
export type RuntimeErrorReason =
  | 'Unavailable'
  | 'NotFound'
  | 'Conflict'
  | 'PullFailed'
  | 'InvalidImageName'
  | 'CannotRun'
  /** A container was not started because the sandbox that it is in has ended. */
  | 'SandboxEnded'
  /** A container was not started because an image that it mounts has no such part. */
  | 'NoSuchPart'
  | 'Failed';

interface RuntimeErrorOptions extends ErrorOptions {
  readonly said?: string | undefined;
}

/** A failure of the engine, with what a pod's status must tell apart. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly reason: RuntimeErrorReason;

  /** The engine's own words, without what was tried. */
  readonly said: string | undefined;

  constructor(reason: RuntimeErrorReason, message: string, options?: RuntimeErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.said = options?.said;
  }
}
