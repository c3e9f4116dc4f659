import { replicationControllerResource } from '../../../api/core/v1/replication-controller.ts';
import { type AccountRights, writeEvents } from '../../../api/rbac/v1/rule-rows.ts';
import { selectorFromMap } from '../../../apimachinery/labels.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import { replicasController } from './replicas.ts';

export const replicationRights: AccountRights = {
  kubernetes: [
    ['get list watch update', 'core', 'replicationcontrollers'],
    ['update', 'core', 'replicationcontrollers/status'],
    ['update', 'core', 'replicationcontrollers/finalizers'],
    ['list watch create patch delete', 'core', 'pods'],
    writeEvents,
  ],
  own: [['get', 'core', 'pods']],
};

export const replicationController = (context: ControllerContext) =>
  replicasController(context, {
    name: 'replicationcontroller',
    resource: replicationControllerResource,
    selectorOf: ({ spec }) => selectorFromMap(spec.selector),
  });
