/** Wires the room `volumes`: the files and volumes of pods. */
import { amounts } from '../../api/core/v1/pod/requests.ts';
import { AccountTokens } from '../volumes/account-tokens.ts';
import { choreSteps } from '../volumes/chore-steps.ts';
import { ClaimedVolumes } from '../volumes/claimed-volumes.ts';
import { LocalVolumes } from '../volumes/local-volumes.ts';
import { PodFiles } from '../volumes/pod-files.ts';
import { PodVolumes } from '../volumes/pod-volumes.ts';
import { Shares } from '../volumes/shares.ts';
import { VolumeChores } from '../volumes/volume-chores.ts';
import { VolumeCounts } from '../volumes/volume-counts.ts';
import type { EnvironmentRoom } from './environment.ts';
import type { Shared } from './shared.ts';

export type VolumesRoom = ReturnType<typeof wireVolumes>;

export function wireVolumes(before: Shared & EnvironmentRoom) {
  const { client, clock, random, log, exec, events, dataDir, facts } = before;
  const { engine, nodeState, allocatable, sources, certificates } = before;
  const files = new PodFiles({ dataDir, exec });
  const claims = new ClaimedVolumes({ client, sources });
  const localVolumes = new LocalVolumes(before);
  const shares = new Shares(before);
  const engineDirectory = () => engine.directory;
  const run = choreSteps({ dataDir, exec, localVolumes, shares, claims, engineDirectory });
  const chores = new VolumeChores({ ...before, run });
  const volumeCounts = new VolumeCounts(clock);
  const volumes = new PodVolumes({
    ...{ claims, localVolumes, shares, exec, clock, sources, certificates, files, events, log },
    counts: volumeCounts,
    node: () => nodeState.node,
    tokens: new AccountTokens({ client, clock, random, log }),
    allocatable,
    allocatableMemory: amounts(allocatable).get('memory') ?? facts.memoryBytes,
  });
  return { files, localVolumes, chores, volumeCounts, volumes };
}
