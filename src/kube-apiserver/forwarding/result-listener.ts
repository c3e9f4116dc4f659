/** Receives the results of function calls before their callers do. */
import type { Handler } from '../../apiserver/request/request-scope.ts';

export interface ResultListener {
  /** Returns true if a trigger currently uses the results of the function. */
  listens(namespace: string, name: string): boolean;
  /** Returns a handler that calls `call`, records the result of the function and returns its answer. */
  around(call: Handler): Handler;
}
