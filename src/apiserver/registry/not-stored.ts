import { StatusError } from '../../apimachinery/status-error.ts';
import {
  ClaimLostError,
  ClaimTakenError,
  KeyExistsError,
  RevisionMismatchError,
  StoreRejectedError,
} from '../../storage/store.ts';

const refusals = [
  StatusError,
  ClaimLostError,
  ClaimTakenError,
  KeyExistsError,
  RevisionMismatchError,
  StoreRejectedError,
];

/** Whether a write that failed so has left nothing. After any other failure, such as of the store, it may be there all the same. */
export const isSurelyNotStored = (error: unknown): boolean =>
  refusals.some((refusal) => error instanceof refusal);
