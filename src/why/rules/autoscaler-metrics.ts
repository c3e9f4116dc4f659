import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace, keyOfKind } from '../kinds.ts';
import { conditionOf, oneLine } from '../pod-facts.ts';
import type { Mend, Rule } from '../rule.ts';

export const autoscalerMetrics: Rule = {
  kinds: ['horizontalpodautoscalers.autoscaling'],
  symptom: 'A HorizontalPodAutoscaler shows <unknown> and does not scale.',
  cause: 'Its metrics cannot be read: often the containers request no cpu, or no pod of the target is ready.',
  advice: 'Set requests, or mend the pods or the source of the metrics.',
  find(scaler) {
    const failed = ['AbleToScale', 'ScalingActive']
      .map((type) => conditionOf(scaler, type))
      .find((one) => one?.status === 'False' && one.reason !== 'ScalingDisabled');
    if (!failed) return undefined;
    const message = oneLine(textAt(failed, 'message'));
    const resource = /missing request for (\w+)/.exec(message)?.[1];
    const key = keyOfKind(textAt(scaler, 'spec', 'scaleTargetRef', 'kind'));
    const { namespace } = metadataOf(scaler);
    const name = textAt(scaler, 'spec', 'scaleTargetRef', 'name');
    return {
      severity: 'degraded',
      says: resource ? `it cannot compute the use of ${resource}: a container requests none` : message,
      evidence: [`${textAt(failed, 'type')}: ${textAt(failed, 'reason')}: ${message}`],
      mend: [resource ? setRequest(scaler, resource) : mendNamed],
      ...(key && { because: [{ key, namespace, name }] }),
    };
  },
};

const mendNamed: Mend = { advice: 'mend what the message names: the target, or the source of the metrics' };

function setRequest(scaler: JsonObject, resource: string): Mend {
  const kind = textAt(scaler, 'spec', 'scaleTargetRef', 'kind').toLowerCase();
  const target = `${kind}/${textAt(scaler, 'spec', 'scaleTargetRef', 'name')}`;
  const place = inNamespace(metadataOf(scaler));
  return { command: command`set resources ${target}${place} --requests=${resource}=AMOUNT` };
}
