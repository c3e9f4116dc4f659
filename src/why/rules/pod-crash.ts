import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf } from '../../apimachinery/fields.ts';
import { command, Words } from '../command.ts';
import { exitCodeInWords } from '../exit-codes.ts';
import { inNamespace } from '../kinds.ts';
import { type ContainerFacts, containersOf, isDeleted, lastEnd, waitingFor } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { refOf } from '../snapshot.ts';

export const podCrash: Rule = {
  kinds: ['pods'],
  symptom: 'CrashLoopBackOff, Error, or a pod that has Failed.',
  cause: 'The program of a container ends with an error.',
  advice: 'Read the last lines of its log, and correct its command, its configuration or the program.',
  find(pod) {
    const container = isDeleted(pod) ? undefined : failedContainer(pod);
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
          about: 'shows the whole log; correct what it says',
        },
      ],
      log: { pod: refOf('pods', pod), container: container.name, previous: end.isPrevious },
    };
  },
};

function failedContainer(pod: JsonObject): ContainerFacts | undefined {
  const [looping] = waitingFor(pod, ['CrashLoopBackOff']);
  const hasFailed = (one: ContainerFacts) => {
    const end = lastEnd(one);
    return end !== undefined && !end.isPrevious && end.exitCode !== 0;
  };
  return looping ?? containersOf(pod).find(hasFailed);
}
