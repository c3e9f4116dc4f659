/**
 * Decides when a running container counts as started, so that the containers that wait for it may continue.
 */
import type { Container } from '../../../api/core/v1/types.gen.ts';
import { hasStarted } from '../../probes/plan/probe-results.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';
import { pendingStart } from './hooks.ts';

export const isStarted = (container: ContainerState, wanted: Container, memory: PodMemory): boolean =>
  container.state === 'running' &&
  !pendingStart(container, wanted, memory) &&
  hasStarted(wanted, memory.probes.get(container.id));
