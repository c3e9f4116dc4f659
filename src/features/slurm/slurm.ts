/** Jobs of Slurm clusters: SlurmJob and SlurmFile objects, and a client in a pod for each connection. */
import type { Feature } from '../feature.ts';
import { slurmController, slurmRights } from './controller/slurm-clients.ts';
import { slurmRoles } from './roles.ts';
import { slurmJobs } from './server/object-metrics.ts';

export const slurm: Feature = {
  name: 'slurm',
  roles: slurmRoles,
  objectMetrics: [slurmJobs],
  controllers: [{ account: 'slurm-controller', rights: slurmRights, controller: () => slurmController }],
};
