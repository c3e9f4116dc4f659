import { replicaSetResource } from '../../../api/apps/v1/replica-set.ts';
import { type AccountRights, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import { replicasController } from './replicas.ts';

export const replicaSetRights: AccountRights = {
  kubernetes: [
    ['get list watch update', 'apps extensions', 'replicasets'],
    ['update', 'apps extensions', 'replicasets/status'],
    ['update', 'apps extensions', 'replicasets/finalizers'],
    ['list watch create patch delete', 'core', 'pods'],
    writeEvents,
  ],
  own: [['get', 'core', 'pods']],
};

export const replicaSetController = (context: ControllerContext) =>
  replicasController(context, {
    name: 'replicaset',
    resource: replicaSetResource,
    selectorOf: ({ spec }) => selectorFromLabelSelector(spec.selector),
  });
