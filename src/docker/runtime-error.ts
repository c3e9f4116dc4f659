/** Reasons of failures of the container engine. */
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
  readonly engineMessage?: string | undefined;
}

/** A failure of the engine, with the reasons that a pod's status must distinguish. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly reason: RuntimeErrorReason;

  /** The engine's own message, without the operation's name. */
  readonly engineMessage: string | undefined;

  constructor(reason: RuntimeErrorReason, message: string, options?: RuntimeErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.engineMessage = options?.engineMessage;
  }
}
