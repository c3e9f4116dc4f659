/** Receives the results of function calls before their callers do. */
import type { Handler } from '../../apiserver/request/request-scope.ts';

export interface ResultListener {
  /** Returns whether the results of the function are wanted now. */
  listens(namespace: string, name: string): boolean;
  /** Returns a handler that calls `call`, which calls a function, and passes its answer on. */
  around(call: Handler): Handler;
}
