/** Every controller of the control plane; a new one is one file and one line here. */
import type { ControllerFactory } from '../controller-runtime/definition.ts';
import { deploymentController } from './deployment.ts';
import { endpointSliceController } from './endpointslice.ts';
import { garbageCollector } from './garbage-collector.ts';
import { namespaceController } from './namespace.ts';
import { nodeIpam } from './node-ipam.ts';
import { podGcController } from './pod-gc.ts';
import { replicaSetController } from './replicaset.ts';

export const controllers: readonly ControllerFactory[] = [
  deploymentController,
  replicaSetController,
  endpointSliceController,
  namespaceController,
  garbageCollector,
  nodeIpam(),
  podGcController,
];
