/** When a container that runs counts as started: what waits for it may go on. */
import type { Container } from '../../../api/core/v1/types.gen.ts';
import { hasStarted } from '../../probes/plan/probe-results.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';
import { pendingStart } from './hooks.ts';

export const isStarted = (container: ContainerState, wanted: Container, memory: PodMemory): boolean =>
  container.state === 'running' &&
  !pendingStart(container, wanted, memory) &&
  hasStarted(wanted, memory.probes.get(container.id));
