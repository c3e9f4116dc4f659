/** The API server could not be reached, or the connection broke: there is no answer, so there is no Status. */
export type TransportFailure = 'refused' | 'reset' | 'timeout' | 'tls' | 'closed' | 'other';

export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly failure: TransportFailure;

  constructor(message: string, failure: TransportFailure, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

export const isTransportError = (error: unknown): error is TransportError => error instanceof TransportError;
