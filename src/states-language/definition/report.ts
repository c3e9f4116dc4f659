/** Collects the faults of a definition, each with its field. */
import {
  forbiddenCause,
  invalidCause,
  joinPath,
  notSupportedCause,
  requiredCause,
} from '../../apimachinery/field-error.ts';
import type { StatusCause } from '../../apimachinery/status-error.ts';

import { maxExpressions } from '../limits.ts';

/** Maximum number of reported faults. */
const maxCauses = 100;

/** An expression that is still to be parsed: the parser is slow, and for some texts very slow. */
export interface FoundExpression {
  readonly field: string;
  /** Text including the markers of an expression. */
  readonly value: string;
  readonly text: string;
}

export class Report {
  readonly causes: StatusCause[] = [];
  readonly expressions: FoundExpression[] = [];
  /** Number of characters of expressions that may still be parsed. */
  private expressionsLeft = maxExpressions;

  /** Counts an expression of `length` characters. Returns true if it may be parsed. */
  takeExpression(length: number): boolean {
    this.expressionsLeft -= length;
    return this.expressionsLeft >= 0;
  }

  add(cause: StatusCause): void {
    if (this.causes.length < maxCauses) this.causes.push(cause);
  }

  invalid(path: string, value: unknown, detail: string): void {
    this.add(invalidCause(path, value, detail));
  }

  required(path: string, detail = ''): void {
    this.add(requiredCause(path, detail));
  }

  forbidden(path: string, detail: string): void {
    this.add(forbiddenCause(path, detail));
  }

  notSupported(path: string, value: unknown, supported: readonly string[]): void {
    this.add(notSupportedCause(path, value, supported));
  }
}

/** Returns the field of a map: `path.key`, or `path[key]` for a key that would be ambiguous in a path. */
export const keyPath = (path: string, key: string): string =>
  /^[\w-]+$/.test(key) ? joinPath(path, key) : `${path}[${key}]`;
