/** `npm run bench [NAME…]`: the benchmarks of one machine. */
import { access } from './access.ts';
import { bodies } from './bodies.ts';
import { bodiesMaster } from './bodies-master.ts';
import { cadvisorPage } from './cadvisor-page.ts';
import { forms } from './forms.ts';
import { initPod } from './init-pod.ts';
import { load } from './load.ts';
import { metricPages } from './metric-pages.ts';
import { nodeReads } from './node-reads.ts';
import { objectMetrics } from './object-metrics.ts';
import { podUsage } from './pod-usage.ts';
import { pods } from './pods.ts';
import { probes } from './probes.ts';
import { readsOfMaster } from './reads.ts';
import { runBenchmarks } from './run-benchmarks.ts';
import { serviceRules } from './service-rules.ts';
import { idle, start } from './start.ts';

await runBenchmarks(
  [
    start,
    pods,
    initPod,
    probes,
    podUsage,
    metricPages,
    cadvisorPage,
    serviceRules,
    access,
    bodies,
    bodiesMaster,
    forms,
    nodeReads,
    readsOfMaster,
    objectMetrics,
    load,
    idle,
  ],
  process.argv.slice(2),
);
