import { replicaSetResource } from '../../../api/apps/v1/replica-set.ts';
import { selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import { replicasController } from './replicas.ts';

export const replicaSetController = (context: ControllerContext) =>
  replicasController(context, {
    name: 'replicaset',
    resource: replicaSetResource,
    selectorOf: ({ spec }) => selectorFromLabelSelector(spec.selector),
  });
