/**
 * The query of a list or a watch. A value that cannot be read is a BadRequest; combinations that Kubernetes
 * forbids are Invalid, as in k8s.io/apimachinery internalversion/validation.
 */

import { forbiddenCause, invalidCause, notSupportedCause } from './field-error.ts';
import { type FieldSelector, parseFieldSelector } from './field-selector.ts';
import { everything, parseLabelSelector, type Selector } from './labels.ts';
import { newBadRequest, newInvalid, type StatusCause } from './status-error.ts';

export type ResourceVersionMatch = 'Exact' | 'NotOlderThan';

export interface ListQuery {
  readonly watch: boolean;
  readonly labelSelector: Selector;
  readonly fieldSelector: FieldSelector;
  /** 0 means no limit. */
  readonly limit: number;
  readonly continue: string;
  /** Undefined when the client sent none; 0 means any version. */
  readonly resourceVersion: number | undefined;
  readonly resourceVersionMatch: ResourceVersionMatch | undefined;
  readonly sendInitialEvents: boolean | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** Throws a StatusError: BadRequest for a malformed value, Invalid for a forbidden combination. */
export function parseListQuery(query: URLSearchParams): ListQuery {
  const label = textParameter(query, 'labelSelector');
  const parsed = {
    watch: booleanParameter(query, 'watch') ?? false,
    labelSelector: label ? parseLabelSelector(label) : everything,
    fieldSelector: parseFieldSelector(textParameter(query, 'fieldSelector')),
    limit: integerParameter(query, 'limit') ?? 0,
    continue: textParameter(query, 'continue'),
    resourceVersion: parseResourceVersion(textParameter(query, 'resourceVersion')),
    sendInitialEvents: booleanParameter(query, 'sendInitialEvents'),
    allowWatchBookmarks: booleanParameter(query, 'allowWatchBookmarks') ?? false,
    timeoutSeconds: integerParameter(query, 'timeoutSeconds'),
  };
  const match = textParameter(query, 'resourceVersionMatch');
  const causes = parsed.watch ? watchCauses(parsed, match) : listCauses(parsed, match);
  if (parsed.limit < 0)
    causes.push(invalidCause('limit', parsed.limit, 'must be greater than or equal to 0'));
  if (causes.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', causes);
  return { ...parsed, resourceVersionMatch: match === '' ? undefined : (match as ResourceVersionMatch) };
}

/** Parses a resourceVersion; undefined when empty. Throws a BadRequest StatusError. */
export function parseResourceVersion(text: string): number | undefined {
  if (text === '') return undefined;
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw newBadRequest(`invalid resource version ${JSON.stringify(text)}: must be a decimal number`);
  return Number(text);
}

type Unmatched = Omit<ListQuery, 'resourceVersionMatch'>;

const matchField = 'resourceVersionMatch';
const matches = ['Exact', 'NotOlderThan'];

function listCauses(query: Unmatched, match: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (query.sendInitialEvents !== undefined)
    causes.push(forbiddenCause('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (match === '') return causes;
  if (query.resourceVersion === undefined)
    causes.push(
      forbiddenCause(matchField, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
    );
  if (query.continue !== '')
    causes.push(forbiddenCause(matchField, 'resourceVersionMatch is forbidden when continue is provided'));
  if (!matches.includes(match)) causes.push(notSupportedCause(matchField, match, [...matches, '']));
  if (match === 'Exact' && query.resourceVersion === 0)
    causes.push(
      forbiddenCause(matchField, 'resourceVersionMatch "Exact" is forbidden for resourceVersion "0"'),
    );
  return causes;
}

function watchCauses(query: Unmatched, match: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (query.sendInitialEvents !== undefined && match !== 'NotOlderThan')
    causes.push(
      forbiddenCause(matchField, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    );
  if (match === '') return causes;
  if (query.sendInitialEvents === undefined)
    causes.push(
      forbiddenCause(
        matchField,
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  if (!matches.includes(match)) causes.push(notSupportedCause(matchField, match, ['NotOlderThan']));
  if (query.continue !== '')
    causes.push(forbiddenCause(matchField, 'resourceVersionMatch is forbidden when continue is provided'));
  return causes;
}

/** Returns a query parameter; an absent one is empty. */
const textParameter = (query: URLSearchParams, name: string) => query.get(name) ?? '';

/**
 * Returns a boolean query parameter; undefined when it is absent. Any text but `false` (in any case, since
 * Python's client writes `False`) and `0` is true (apimachinery's Convert_Slice_string_To_bool).
 */
export function booleanParameter(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return !['false', '0'].includes(text.toLowerCase());
}

function integerParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw newBadRequest(
      `unable to decode query parameter ${name}: ${JSON.stringify(text)} is not an integer`,
    );
  return Number(text);
}
