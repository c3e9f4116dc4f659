import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf } from '../../apimachinery/fields.ts';
import { command, Words } from '../command.ts';
import { exitCodeInWords } from '../exit-codes.ts';
import { inNamespace } from '../kinds.ts';
import { type ContainerFacts, containersOf, isDeleted, isLooping, lastEnd } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { refOf } from '../snapshot.ts';

export const podCrash: Rule = {
  kinds: ['pods'],
  symptom: 'CrashLoopBackOff, Error, or a pod that has Failed.',
  cause: 'The program of a container ends with an error.',
  advice: 'Read the last lines of its log, and correct its command, its configuration or the program.',
  find(pod, { nowMs }) {
    const container = isDeleted(pod) ? undefined : failedContainer(pod, nowMs);
    const end = container && lastEnd(container);
    if (!container || !end) return undefined;
    const { namespace, name } = metadataOf(pod);
    const title = `${container.isInit ? 'init container' : 'container'} ${container.name}`;
    const previous = new Words(end.isPrevious ? ' --previous' : '');
    const restarts = String(container.status.restartCount ?? 0);
    return {
      severity: 'broken',
      says: `${title} ends with exit code ${end.exitCode} (${exitCodeInWords(end.exitCode)})`,
      evidence: [
        `${title}: ${end.reason || 'ended'}, exit code ${end.exitCode}, restarts: ${restarts}`,
        ...(end.message ? [end.message] : []),
      ],
      mend: [
        {
          command: command`logs ${name}${inNamespace({ namespace })} -c ${container.name}${previous}`,
          about: 'shows the whole log; correct the error that it names',
        },
      ],
      log: { pod: refOf('pods', pod), container: container.name, previous: end.isPrevious },
    };
  },
};

function failedContainer(pod: JsonObject, nowMs: number): ContainerFacts | undefined {
  const containers = containersOf(pod);
  const hasFailed = (one: ContainerFacts) => (lastEnd(one)?.exitCode ?? 0) !== 0;
  return (
    containers.find((one) => isLooping(one, nowMs) && hasFailed(one)) ??
    containers.find((one) => hasFailed(one) && lastEnd(one)?.isPrevious === false)
  );
}
