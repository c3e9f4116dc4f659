/** The status that nodes write about a build. Pure. */

import { findCondition, transitionTime, withoutCondition } from '../../../../apimachinery/conditions.ts';
import type { FunctionVersion } from '../../api/function-version.ts';

export type VersionStatus = NonNullable<FunctionVersion['status']>;

export const builtCondition = 'Built';

export interface BuildResult {
  readonly isBuilt: boolean;
  readonly reason: string;
  readonly message: string;
  /** Last lines of the log. */
  readonly log: string;
  readonly nodeName: string;
  /** Time in the API server's format. */
  readonly at: string;
}

/** Returns the status after the newest build. */
export function withBuild(status: VersionStatus | undefined, result: BuildResult): VersionStatus {
  const { isBuilt, reason, message, log, nodeName, at } = result;
  const conditions = status?.conditions ?? [];
  const before = findCondition(conditions, builtCondition);
  const value = isBuilt ? 'True' : 'False';
  const lastTransitionTime = transitionTime(before, value, at);
  const condition = { type: builtCondition, status: value, reason, message, lastTransitionTime } as const;
  return {
    ...status,
    log,
    nodeName,
    conditions: [...withoutCondition(conditions, builtCondition), condition],
  };
}

/**
 * Returns the status for an image that is present on the node. It is unchanged if the condition Built is True
 * already, or if another node wrote the result of the newest build: its failure must stay visible.
 */
export function withPresent(
  status: VersionStatus | undefined,
  of: Pick<BuildResult, 'nodeName' | 'at'>,
): VersionStatus | undefined {
  const { nodeName = of.nodeName, log = '', conditions } = status ?? {};
  if (nodeName !== of.nodeName || findCondition(conditions, builtCondition)?.status === 'True') return status;
  return withBuild(status, { ...of, isBuilt: true, reason: 'Built', message: 'the image is present', log });
}
