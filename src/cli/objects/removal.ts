/** Deletions: their options from flags, and waiting until the objects are gone. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { type Activity, beginWork } from '../../terminal/live-lines.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { forEachReported } from '../for-each-reported.ts';
import { deletionText } from '../progress/object-progress.ts';
import type { VerbContext } from '../verb.ts';
import { kindName } from './discovery.ts';
import { follow } from './follow.ts';
import type { ObjectTarget } from './object-target.ts';
import { metadataOf } from './objects.ts';

export const cascadeFlag = {
  cascade: {
    type: 'string',
    hint: 'background|foreground|orphan',
    about: 'deletion of dependent objects: after the object, before it, or not at all',
    usual: 'background',
    values: ['background', 'foreground', 'orphan'],
    bare: 'background',
  },
} as const satisfies FlagTable;

/** Returns the propagation policy of a deletion. Throws UsageError. */
export function propagationOf(flags: Flags): JsonObject {
  const meanings = { yes: 'background', no: 'orphan' } as const;
  const choices = ['background', 'foreground', 'orphan'] as const;
  const policy = flags.oneOfOrBoolean('cascade', choices, meanings) ?? 'background';
  return { propagationPolicy: policy.charAt(0).toUpperCase() + policy.slice(1) };
}

export interface Deleted {
  readonly target: ObjectTarget;
  readonly uid: string;
}

/** Waits until the deleted objects are gone; new objects with the same names count as gone. */
export async function waitUntilGone(
  context: Pick<VerbContext, 'io' | 'report'>,
  cluster: Cluster,
  deleted: readonly Deleted[],
  timeoutMs: number | undefined,
): Promise<void> {
  const { clock, progress } = context.io;
  const deadline = timeoutMs ? clock.now() + timeoutMs : undefined;
  await forEachReported(context, deleted, async ({ target, uid }) => {
    using work = beginWork(progress, `${kindName(target.resource)}/${target.name}`);
    const leftMs = deadline === undefined ? undefined : Math.max(1, deadline - clock.now());
    if (!(await isGone(follow(cluster, target, { clock, timeoutMs: leftMs }), uid, work)))
      throw new Error(`timed out waiting for ${target.resource.plural}/${target.name} to be deleted`);
  });
}

/** Resolves to false if the states end before the object is gone. */
export async function isGone(
  states: AsyncIterable<JsonObject | undefined>,
  uid: string,
  work?: Activity,
): Promise<boolean> {
  for await (const object of states) {
    if (!object || metadataOf(object).uid !== uid) return true;
    work?.say(deletionText(object));
  }
  return false;
}
