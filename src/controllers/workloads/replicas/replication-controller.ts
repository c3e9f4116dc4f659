import { replicationControllerResource } from '../../../api/core/v1/replication-controller.ts';
import { selectorFromMap } from '../../../apimachinery/labels.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import { replicasController } from './replicas.ts';

export const replicationController = (context: ControllerContext) =>
  replicasController(context, {
    name: 'replicationcontroller',
    resource: replicationControllerResource,
    selectorOf: ({ spec }) => selectorFromMap(spec.selector),
  });
