/** Causes of a SlurmJob that does not run, or has failed. Pure. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { metadataOf, numberAt, recordsAt, textAt } from '../../../apimachinery/fields.ts';
import { command } from '../../../why/command.ts';
import { inNamespace } from '../../../why/kinds.ts';
import { conditionOf, oneLine } from '../../../why/pod-facts.ts';
import type { Mend, Rule, Rules } from '../../../why/rule.ts';
import { reasonInWords } from './slurm-reasons.ts';

const phaseOf = (job: JsonObject) => textAt(job, 'status', 'phase');
const hasEnded = (job: JsonObject) => ['Succeeded', 'Failed', 'Canceled'].includes(phaseOf(job));

/** Returns the reason and the message of the condition Failed; undefined for other jobs. */
function failureOf(job: JsonObject): { readonly reason: string; readonly message: string } | undefined {
  const failed = conditionOf(job, 'Failed');
  if (phaseOf(job) !== 'Failed' || failed?.status !== 'True') return undefined;
  return { reason: textAt(failed, 'reason'), message: oneLine(textAt(failed, 'message')) };
}

function again(job: JsonObject, about: string): Mend {
  const { name, namespace } = metadataOf(job);
  return { command: command`delete slurmjob ${name}${inNamespace({ namespace })}`, about };
}

const slurmConnection: Rule = {
  kinds: ['slurmjobs.minik8s.io'],
  symptom: 'A SlurmJob stays Waiting: the login host is not reached, or does not accept the user.',
  cause:
    'The Secret of the connection does not exist or is wrong, the host key is unknown, or the host cannot be reached.',
  advice: 'Correct the Secret: host, user, password or privateKey, knownHosts.',
  find(job, seen) {
    if (hasEnded(job)) return undefined;
    const { namespace } = metadataOf(job);
    const secret = textAt(job, 'spec', 'connection', 'secretName');
    const place = inNamespace({ namespace });
    if (secret !== '' && seen.isAbsent({ key: 'secrets', namespace, name: secret }))
      return {
        severity: 'broken',
        says: `the Secret ${secret} of its connection does not exist in namespace ${namespace}`,
        mend: [
          {
            command: command`create secret generic ${secret}${place} --from-literal=host=HOST --from-literal=user=USER --from-file=privateKey=FILE --from-file=knownHosts=FILE`,
          },
        ],
      };
    const connected = conditionOf(job, 'Connected');
    if (connected?.status !== 'False') return undefined;
    return {
      severity: 'broken',
      says: `the login host cannot be used: ${oneLine(textAt(connected, 'message'))}`,
      evidence: [`Connected: ${textAt(connected, 'reason')}`],
      mend: [
        {
          command: command`edit secret ${secret}${place}`,
          about: connectionAdvice[textAt(connected, 'reason')] ?? 'correct what the message names',
        },
      ],
    };
  },
};

const connectionAdvice: Readonly<Record<string, string>> = {
  InvalidSecret: 'set the keys host, user, knownHosts, and password or privateKey',
  HostKeyUnknown: 'set knownHosts to the lines that ssh-keyscan HOST prints, once they are checked',
  AuthenticationFailed: 'correct user, password or privateKey',
  HostAway: 'correct host and port, or wait until the host answers',
};

const slurmRefused: Rule = {
  kinds: ['slurmjobs.minik8s.io'],
  symptom: 'A SlurmJob is Failed with the reason SubmitRefused.',
  cause: 'Slurm does not accept it: an unknown partition, account or option, or more than a limit allows.',
  advice: 'Correct the field that the message of sbatch names, and create the job again.',
  find(job) {
    const failure = failureOf(job);
    if (failure?.reason !== 'SubmitRefused') return undefined;
    const fields = (['partition', 'account', 'qos', 'nodes', 'memory', 'time', 'gpuType'] as const)
      .map((field) => [field, textOf(job, field)] as const)
      .filter(([, value]) => value !== '');
    return {
      severity: 'broken',
      says: `Slurm has refused it: ${failure.message}`,
      evidence: fields.map(([field, value]) => `spec.${field}: ${value}`),
      mend: [again(job, 'and create it again with the field corrected')],
    };
  },
};

function textOf(job: JsonObject, field: string): string {
  const value = (job.spec as Readonly<Record<string, unknown>> | undefined)?.[field];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

const slurmFailed: Rule = {
  kinds: ['slurmjobs.minik8s.io'],
  symptom: 'A SlurmJob is Failed.',
  cause: 'Its commands ended with an error, Slurm ended it (time, memory, node), or its build failed.',
  advice: 'Read its output (ctl logs slurmjob/NAME), and create it again with the cause corrected.',
  find(job) {
    const failure = failureOf(job);
    if (!failure) return undefined;
    const { name, namespace } = metadataOf(job);
    const state = textAt(job, 'status', 'state');
    return {
      severity: 'broken',
      says: `it has failed: ${failure.message}`,
      evidence: [
        `${failure.reason}${state && state !== failure.reason ? `, state ${state}` : ''}, exit code ${String(numberAt(job, 'status', 'exitCode'))}`,
      ],
      mend: [
        {
          command: command`logs slurmjob/${name}${inNamespace({ namespace })}`,
          about: 'shows its output, which may name the fault',
        },
        again(job, 'and create it again, when the cause is mended'),
      ],
    };
  },
};

const slurmWaiting: Rule = {
  kinds: ['slurmjobs.minik8s.io'],
  symptom: 'A SlurmJob stays Submitted with the state PENDING.',
  cause: 'Slurm has not started it, for the reason that it reports.',
  advice: 'Wait, or ask for less: fewer nodes, less time or memory, another partition.',
  find(job) {
    const reason = textAt(job, 'status', 'reason');
    if (hasEnded(job) || textAt(job, 'status', 'state') !== 'PENDING') return undefined;
    const { words, advice } = reasonInWords(reason);
    return {
      severity: 'waiting',
      says: `Slurm has not started it${words === '' ? ' yet' : `: ${words}`}`,
      evidence: reason === '' ? [] : [`reason in Slurm: ${reason}, job ${textAt(job, 'status', 'jobID')}`],
      mend: [{ advice }],
    };
  },
};

/** Finds a step before or after the job that fails and is tried again. */
const slurmStep: Rule = {
  kinds: ['slurmjobs.minik8s.io'],
  symptom: 'A SlurmJob stays Uploading, Building, Submitted or Fetching.',
  cause:
    'A step fails and is tried again: Slurm does not answer, its queue is full, or the host rejects files.',
  advice: 'Mend what the message names; the step is tried again by itself.',
  find(job) {
    if (hasEnded(job)) return undefined;
    const failing = recordsAt(job, 'status', 'conditions').find(
      (one) =>
        (one.status === 'False' || one.status === 'Unknown') &&
        ['Uploaded', 'Built', 'Submitted', 'ResultsFetched'].includes(textAt(one, 'type')) &&
        textAt(one, 'message') !== '',
    );
    if (!failing) return undefined;
    return {
      severity: 'degraded',
      says: `a step is tried again: ${oneLine(textAt(failing, 'message'))}`,
      evidence: [`${textAt(failing, 'type')}: ${textAt(failing, 'reason')}`],
      mend: [{ advice: 'mend what the message names; the step is tried again by itself' }],
    };
  },
};

export const slurmRules: Rules = {
  'slurm-connection': slurmConnection,
  'slurm-refused': slurmRefused,
  'slurm-failed': slurmFailed,
  'slurm-step': slurmStep,
  'slurm-waiting': slurmWaiting,
};
