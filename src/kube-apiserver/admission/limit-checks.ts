/** Defaults and limits of a LimitRange for containers (upstream: plugin/pkg/admission/limitranger). Pure. */
import type { LimitRange } from '../../api/core/v1/limit-range.ts';
import { containersTogether } from '../../api/core/v1/pod/amounts.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type {
  Container,
  LimitRangeItem,
  PersistentVolumeClaim,
  PodSpec,
} from '../../api/core/v1/types.gen.ts';
import { type WrittenAmounts, writeAmounts } from '../../apimachinery/amounts.ts';
import { compareQuantities, parseQuantity } from '../../apimachinery/quantity.ts';

interface Asked {
  readonly requests: WrittenAmounts;
  readonly limits: WrittenAmounts;
}

const annotation = 'kubernetes.io/limit-ranger';

/**
 * Fills in missing requests and limits of the containers from the range, and lists them in an annotation;
 * mutates the pod.
 */
export function giveDefaults(pod: Pod, { spec: { limits } }: LimitRange): void {
  const items = limits.filter(({ type }) => type === 'Container');
  const requests = Object.assign({}, ...items.map(({ defaultRequest }) => defaultRequest));
  const most = Object.assign({}, ...items.map((item) => item.default));
  const { containers, initContainers = [] } = pod.spec;
  const given = [
    ...containers.flatMap((container) => complete(container, { requests, limits: most }, 'container')),
    ...initContainers.flatMap((each) => complete(each, { requests, limits: most }, 'init container')),
  ];
  if (given.length === 0) return;
  const text = `LimitRanger plugin set: ${given.join('; ')}`;
  pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: text };
}

/** Returns descriptions of what was filled in. */
function complete({ name, resources }: Container, defaults: Asked, what: string): string[] {
  return (['requests', 'limits'] as const).flatMap((field) => {
    const missing = Object.keys(defaults[field]).filter((key) => resources[field]?.[key] === undefined);
    if (missing.length === 0) return [];
    resources[field] = { ...defaults[field], ...resources[field] };
    return [`${missing.sort().join(', ')} ${field.slice(0, -1)} for ${what} ${name}`];
  });
}

/** Returns why the range rejects the pod, each reason once; empty if it does not. */
export function podProblems({ spec }: Pod, { spec: { limits } }: LimitRange): string[] {
  const problems = limits.flatMap((item) => {
    if (item.type === 'Pod') return itemProblems(item, totals(spec));
    if (item.type !== 'Container') return [];
    return [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      itemProblems(item, { requests: resources.requests ?? {}, limits: resources.limits ?? {} }),
    );
  });
  return [...new Set(problems)];
}

/** Returns why the range rejects the claim, like podProblems. Only the requests of a claim count. */
export function claimProblems({ spec }: PersistentVolumeClaim, range: LimitRange): string[] {
  const requests = spec.resources.requests ?? {};
  return range.spec.limits
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap(({ type, min, max }) => [
      ...each(min, (name, least) => tooLittle(type, name, least, { requests, limits: {} })),
      ...each(max, (name, most) => {
        const rule = `maximum ${name} usage per ${type} is ${most}`;
        const request = requests[name];
        if (request === undefined) return `${rule}.  No request is specified`;
        return isGreater(request, most) ? `${rule}, but request is ${request}` : undefined;
      }),
    ]);
}

const itemProblems = ({ type, min, max, maxLimitRequestRatio }: LimitRangeItem, asked: Asked) => [
  ...each(min, (name, least) => tooLittle(type, name, least, asked)),
  ...each(max, (name, most) => tooMuch(type, name, most, asked)),
  ...each(maxLimitRequestRatio, (name, ratio) => tooUneven(type, name, ratio, asked)),
];

const each = (bounds: WrittenAmounts = {}, problem: (name: string, bound: string) => string | undefined) =>
  Object.entries(bounds).flatMap(([name, bound]) => problem(name, bound) ?? []);

function tooLittle(type: string, name: string, least: string, { requests, limits }: Asked) {
  const rule = `minimum ${name} usage per ${type} is ${least}`;
  const [request, limit] = [requests[name], limits[name]];
  if (request === undefined) return `${rule}.  No request is specified`;
  if (isGreater(least, request)) return `${rule}, but request is ${request}`;
  return limit !== undefined && isGreater(least, limit) ? `${rule}, but limit is ${limit}` : undefined;
}

function tooMuch(type: string, name: string, most: string, { requests, limits }: Asked) {
  const rule = `maximum ${name} usage per ${type} is ${most}`;
  const [request, limit] = [requests[name], limits[name]];
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (isGreater(limit, most)) return `${rule}, but limit is ${limit}`;
  return request !== undefined && isGreater(request, most) ? `${rule}, but request is ${request}` : undefined;
}

function tooUneven(type: string, name: string, ratio: string, { requests, limits }: Asked) {
  const rule = `${name} max limit to request ratio per ${type} is ${ratio}`;
  const [request, limit] = [nano(requests[name]), nano(limits[name])];
  if (request === 0n) return `${rule}, but no request is specified or request is 0`;
  if (limit === 0n) return `${rule}, but no limit is specified or limit is 0`;
  if (limit * nano('1') <= nano(ratio) * request) return undefined;
  return `${rule}, but provided ratio is ${(Number(limit) / Number(request)).toFixed(6)}`;
}

const totals = (spec: PodSpec): Asked => ({
  requests: writeAmounts(containersTogether(spec, 'requests')),
  limits: writeAmounts(containersTogether(spec, 'limits')),
});

const isGreater = (a: string, b: string) => compareQuantities(parseQuantity(a), parseQuantity(b)) > 0;
const nano = (text: string | undefined) => (text === undefined ? 0n : parseQuantity(text).nano);
