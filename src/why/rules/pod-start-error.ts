import { textAt } from '../../apimachinery/fields.ts';
import { containersOf, isReady, lastEnd, waitingFor, waitMessage } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';

const waiting = ['CreateContainerError', 'RunContainerError', 'PostStartHookError'];
const ended = ['StartError', 'ContainerCannotRun'];

export const podStartError: Rule = {
  kinds: ['pods'],
  symptom: 'CreateContainerError, RunContainerError, StartError, ContainerCannotRun or PostStartHookError.',
  cause:
    'The engine refuses to start the container: the image does not have the command, a mount fails, or the container lacks a right.',
  advice: 'Correct the command or the field that the message names.',
  find(pod) {
    if (isReady(pod)) return undefined;
    const [refused] = waitingFor(pod, waiting);
    const failed = containersOf(pod).find((one) => ended.includes(lastEnd(one)?.reason ?? ''));
    const container = refused ?? failed;
    if (!container) return undefined;
    const message = refused ? waitMessage(refused) : (lastEnd(container)?.message ?? '');
    const command = [container.spec.command, container.spec.args].flat().filter(Boolean).join(' ');
    const isMissing = /executable file not found|no such file or directory/i.test(message);
    if (textAt(refused?.status, 'state', 'waiting', 'reason') === 'PostStartHookError')
      return {
        severity: 'broken',
        says: `the postStart hook of container ${container.name} fails, so that it is restarted`,
        evidence: [message],
        mend: [{ advice: `correct lifecycle.postStart of container ${container.name}` }],
      };
    return {
      severity: 'broken',
      says: isMissing
        ? `container ${container.name} cannot start: the image has no such program${command && ` (${command})`}`
        : `container ${container.name} cannot start: ${message}`,
      evidence: [`container ${container.name}: ${message}`],
      mend: [
        isMissing
          ? {
              advice: `correct command or args of container ${container.name}; the image is ${textAt(container.spec, 'image')}`,
            }
          : { advice: `correct the field of container ${container.name} that the message names` },
      ],
    };
  },
};
