/** The one list of actions on objects, in the order in which they are offered. */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import type { ObjectAction } from './action.ts';
import { deleteAction } from './delete.tsx';
import { editAction } from './edit.ts';
import { cordonAction, drainAction, uncordonAction } from './node.tsx';
import { pauseAction, restartAction, resumeAction, scaleAction } from './workload.tsx';

const actions: readonly ObjectAction[] = [
  ...[scaleAction, restartAction, pauseAction, resumeAction, cordonAction, uncordonAction, drainAction],
  ...[editAction, deleteAction],
];

export const actionsOn = (kind: ApiKind, object: KubeObject): readonly ObjectAction[] =>
  actions.filter((action) => action.applies(kind, object));
