/** The source of a trigger in words. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, recordAt, stringsAt, textAt } from '../apimachinery/fields.ts';

/** Returns the source of a trigger in words, such as `schedule @hourly (UTC)`; `<none>` without one. */
export function triggerSource(trigger: JsonObject): string {
  const { namespace } = metadataOf(trigger);
  const spec = recordAt(trigger, 'spec');
  const all = Object.entries(sources).flatMap(([field, text]) =>
    spec[field] === undefined ? [] : [text(recordAt(spec, field), namespace)],
  );
  return all.join('; ') || '<none>';
}

const sources: Readonly<Record<string, (source: JsonObject, namespace: string) => string>> = {
  cron: (cron) => `schedule ${textAt(cron, 'schedule')} (${textAt(cron, 'timeZone') || 'UTC'})`,
  http: (http, namespace) => {
    const methods = stringsAt(http, 'methods').join(' or ') || 'POST';
    const senders = http.public === true ? 'anyone' : 'who may create triggers/invoke';
    return `${methods} /trigger/${namespace}${textAt(http, 'path')} by ${senders}`;
  },
  object: (object, namespace) => {
    const types = stringsAt(object, 'types').join(', ') || 'any change';
    const selectors = [textAt(object, 'labelSelector'), textAt(object, 'fieldSelector')].filter(Boolean);
    const where = textAt(object, 'namespace') || namespace;
    const which = selectors.length > 0 ? ` with ${selectors.join(' and ')}` : '';
    const place = where === '*' ? 'all namespaces' : `namespace ${where}`;
    return `objects ${textAt(object, 'apiVersion')}/${textAt(object, 'kind')} of ${place}${which}: ${types}`;
  },
  result: (result) => {
    const outcomes = stringsAt(result, 'outcomes').join(' or ') || 'any outcome';
    return `results of function ${textAt(result, 'function')}: ${outcomes}`;
  },
  file: (file) => {
    const claim = textAt(file, 'claimName');
    const nodes = pairsOf(recordAt(file, 'nodeSelector'));
    const folder = claim
      ? `claim ${claim}${textAt(file, 'path') && `/${textAt(file, 'path')}`}`
      : `${textAt(file, 'folder')} of ${nodes === '' ? 'nodes that allow it' : `nodes with ${nodes}`}`;
    const types = stringsAt(file, 'types').join(', ') || 'any change';
    return `files ${textAt(file, 'pattern') || '*'} in ${folder}: ${types}`;
  },
};

const pairsOf = (map: JsonObject): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${String(map[key])}`)
    .join(',');
