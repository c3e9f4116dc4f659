/** Rules of `ctl why` for the kinds of the features; each feature has one line here. Pure. */
import type { Rules } from '../why/rule.ts';
import { functionRules } from './functions/why/function-rules.ts';
import { dnsRules } from './host-names/why/dns-rules.ts';
import { slurmRules } from './slurm/why/slurm-job-rules.ts';
import { triggerRules } from './triggers/why/trigger-rules.ts';
import { workflowRules } from './workflows/why/workflow-rules.ts';

export const featureRules: Rules = {
  ...functionRules,
  ...triggerRules,
  ...workflowRules,
  ...slurmRules,
  ...dnsRules,
};
