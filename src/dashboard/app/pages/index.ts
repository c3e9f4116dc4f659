/** The one list of the app's pages. */
import { createPage } from './create/create.tsx';
import { functionsPage } from './functions/functions.tsx';
import { kindPage } from './kind.tsx';
import { logsPage } from './logs/logs.tsx';
import { nodesPage } from './nodes/nodes.tsx';
import { overviewPage } from './overview/overview.tsx';
import type { Page } from './page.ts';
import { rolloutsPage } from './rollouts/rollouts.tsx';
import { slurmPage } from './slurm/slurm.tsx';
import { topologyPage } from './topology/topology.tsx';
import { triggersPage } from './triggers/triggers.tsx';
import { workflowsPage } from './workflows/workflows.tsx';

export const pages: readonly Page[] = [
  ...[overviewPage, topologyPage, nodesPage, rolloutsPage, logsPage, createPage],
  ...[functionsPage, workflowsPage, triggersPage, slurmPage, kindPage],
];

export const pageAt = (path: string): Page | undefined => pages.find((page) => page.path === path);
