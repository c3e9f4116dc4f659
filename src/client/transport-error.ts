/** Failure to reach the API server, or a broken connection: there is no response, and therefore no Status. */
export type TransportFailure = 'refused' | 'reset' | 'timeout' | 'tls' | 'closed' | 'other';

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly failure: TransportFailure;
  /** True if certainly no part of the request reached a server; false if a part may have. */
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
