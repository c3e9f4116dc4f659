/** Validation of the options of a log request (ValidatePodLogOptions). */
import { forbiddenCause, invalidCause } from '../../apimachinery/field-error.ts';
import { newInvalid } from '../../apimachinery/status-error.ts';

const bounds = [
  { name: 'tailLines', min: 0, detail: 'must be greater than or equal to 0' },
  { name: 'limitBytes', min: 1, detail: 'must be greater than 0' },
  { name: 'sinceSeconds', min: 1, detail: 'must be greater than 0' },
] as const;

/** Throws Invalid for options that no log can have. The kubelet rejects values that are no numbers. */
export function checkLogOptions(query: URLSearchParams, pod: string): void {
  const causes = bounds.flatMap(({ name, min, detail }) => {
    const value = Number(query.get(name) || min);
    return value < min ? [invalidCause(name, value, detail)] : [];
  });
  if (query.get('sinceSeconds') && query.get('sinceTime'))
    causes.push(forbiddenCause('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  if (causes.length > 0) throw newInvalid({ group: '', kind: 'PodLogOptions' }, pod, causes);
}
