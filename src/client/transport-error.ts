/** The API server could not be reached, or the connection broke: there is no answer, so there is no Status. */
export type TransportFailure = 'refused' | 'reset' | 'timeout' | 'tls' | 'closed' | 'other';

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly failure: TransportFailure;
  /** Surely nothing of the request reached a server; false when something may have. */
  readonly unsent: boolean;

  constructor(
    message: string,
    failure: TransportFailure,
    options: ErrorOptions & { readonly unsent?: boolean } = {},
  ) {
    super(message, options);
    this.failure = failure;
    this.unsent = options.unsent ?? false;
  }
}

export const isTransportError = (error: unknown): error is TransportError => error instanceof TransportError;
