/** Actions on nodes: cordon, uncordon and drain. */

import { valueAt } from '../../../apimachinery/fields.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { cordonPatch } from '../../../views/workload-changes.ts';
import { may } from '../cluster/access.ts';
import { kindsByKey } from '../cluster/kinds.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { notify, openDialog } from '../shell/dialog.tsx';
import type { ObjectAction } from './action.ts';
import { DrainDialog } from './drain.tsx';
import { fieldsOf, mayPatch, mergePatch } from './patch-object.ts';

const isCordoned = (kind: ApiKind, object: KubeObject) =>
  valueAt(fieldsOf(kind, object), 'spec', 'unschedulable') === true;

async function cordon(kind: ApiKind, object: KubeObject, cordoned: boolean): Promise<void> {
  await mergePatch(kind, object, cordonPatch(cordoned));
  notify(`Node ${object.metadata.name} is ${cordoned ? 'cordoned: it gets no new pods' : 'uncordoned'}.`);
}

export const cordonAction: ObjectAction = {
  title: 'Cordon',
  words: 'unschedulable maintenance',
  applies: (kind, object) => kind.key === 'nodes' && mayPatch(kind, object) && !isCordoned(kind, object),
  run: (kind, object) => cordon(kind, object, true),
};

export const uncordonAction: ObjectAction = {
  title: 'Uncordon',
  words: 'schedulable maintenance',
  applies: (kind, object) => kind.key === 'nodes' && mayPatch(kind, object) && isCordoned(kind, object),
  run: (kind, object) => cordon(kind, object, false),
};

export const drainAction: ObjectAction = {
  title: 'Drain',
  words: 'evict maintenance move pods',
  isDangerous: true,
  applies(kind, object) {
    const pods = kindsByKey.value.get('pods');
    if (kind.key !== 'nodes' || !pods || !mayPatch(kind, object)) return false;
    return may('list', pods) && may('create', pods, '', { subresource: 'eviction' });
  },
  run: (kind, object) =>
    openDialog({
      title: `Drain node ${object.metadata.name}`,
      content: ({ close }) => <DrainDialog kind={kind} object={object} close={close} />,
    }),
};
