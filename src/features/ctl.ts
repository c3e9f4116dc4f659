/** Verbs and logs of the features in ctl; each has one line here. */
import type { CtlFeatures } from '../cli/verb.ts';

export const ctlFeatures: CtlFeatures = {
  verbs: {
    function: async () => (await import('./functions/ctl/function.ts')).functions,
    trigger: async () => (await import('./triggers/ctl/trigger.ts')).triggers,
    workflow: async () => (await import('./workflows/ctl/workflow.ts')).workflows,
    image: async () => (await import('./images/ctl/image.ts')).image,
    slurm: async () => (await import('./slurm/ctl/slurm.ts')).slurm,
    execute: async () => (await import('./functions/ctl/execute.ts')).execute,
    update: async () => (await import('./functions/ctl/update.ts')).update,
  },
  describers: {
    'Function.minik8s.io': async () => (await import('./functions/ctl/describe.ts')).functionDescriber,
    'Trigger.minik8s.io': async () => (await import('./triggers/ctl/describe.ts')).triggerDescriber,
    'Workflow.minik8s.io': async () => (await import('./workflows/ctl/describe.ts')).workflowDescriber,
    'WorkflowRun.minik8s.io': async () => (await import('./workflows/ctl/describe-run.ts')).runDescriber,
    'SlurmJob.minik8s.io': async () => (await import('./slurm/ctl/describe.ts')).slurmJobDescriber,
    'Dns.minik8s.io': async () => (await import('./host-names/ctl/describe.ts')).dnsDescriber,
  },
  rules: async () => (await import('./why.ts')).featureRules,
  logs: {
    'slurmjobs.minik8s.io': async () => (await import('./slurm/ctl/job-log.ts')).printJobLog,
  },
};
