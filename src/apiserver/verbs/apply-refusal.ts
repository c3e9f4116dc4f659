/** Errors of a configuration that cannot be applied, in upstream's words. */
import { describePath } from '../../apimachinery/managed-fields/field-set.ts';
import { ApplyConflicts, describeManager } from '../../apimachinery/managed-fields/managers.ts';
import { KeyError } from '../../apimachinery/managed-fields/shape.ts';
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';

/** A configuration, as errors name it. */
export interface Described {
  /** Description for messages: `default/web; apps/v1, Kind=Deployment`. */
  readonly described: string;
}

/** Maximum number of listed conflicts. */
const maxConflicts = 1_000;

/**
 * Returns the answer to a conflict, or to a list whose items have no keys; any other error is returned
 * unchanged.
 */
export function applyRefusal(error: unknown, configuration: Described): unknown {
  if (error instanceof KeyError) return notTyped(configuration, [error.message]);
  if (!(error instanceof ApplyConflicts)) return error;
  const causes = error.conflicts.slice(0, maxConflicts).map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${describeManager(manager)}`,
    field: describePath(path),
  }));
  return newStatusError('Conflict', error.message, { causes });
}

/** Returns a 400. Upstream answers 500, although the client is at fault. */
export function notTyped({ described }: Described, problems: readonly string[]) {
  const [only = '', ...more] = problems;
  const why = more.length === 0 ? only : `errors:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  return newBadRequest(`failed to create typed patch object (${described}): ${why}`);
}
