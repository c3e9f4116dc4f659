/** Kubernetes' functions that ask whether a user may do something. */
import { checkDns1123Label, checkDns1123Subdomain } from '../../apimachinery/names.ts';
import { argument, fixed, perCharacter, sizeOf } from '../cost/costs.ts';
import { exactly, plus, scaled } from '../cost/ranges.ts';
import type { Cost, Declaration, Range } from '../functions/overload.ts';
import { Fault, noSuchOverload, Opaque, type Result, type Value } from '../values/value.ts';

/** A question about a resource. The API group's version is not a part of it. */
export interface ResourceQuestion {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

/** A question to the authorizer; without `serviceAccount` it is about the user of the request. */
export interface AuthorizerQuestion {
  readonly verb: string;
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined;
  readonly about: { readonly path: string } | ResourceQuestion;
}

export interface AuthorizerAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  /** Message of a failed check. */
  readonly error: string | undefined;
}

/** Answers the questions of an expression; made by the owner of the request. */
export type Ask = (question: AuthorizerQuestion) => AuthorizerAnswer;

const prefix = 'kubernetes.authorization.';

interface Asker {
  readonly ask: Ask;
  readonly serviceAccount: AuthorizerQuestion['serviceAccount'];
}

abstract class Step extends Opaque {
  equals(other: Opaque): boolean {
    return other === this;
  }
}

/** The variable `authorizer`. */
export class Authorizer extends Step {
  readonly typeName = `${prefix}Authorizer`;
  readonly asker: Asker;
  constructor(asker: Asker) {
    super();
    this.asker = asker;
  }
}

class PathCheck extends Step {
  readonly typeName = `${prefix}PathCheck`;
  readonly asker: Asker;
  readonly path: string;
  constructor(asker: Asker, path: string) {
    super();
    this.asker = asker;
    this.path = path;
  }
}

class GroupCheck extends Step {
  readonly typeName = `${prefix}GroupCheck`;
  readonly asker: Asker;
  readonly group: string;
  constructor(asker: Asker, group: string) {
    super();
    this.asker = asker;
    this.group = group;
  }
}

/** The variable `authorizer.requestResource`, and the resources that an expression makes from a group. */
export class ResourceCheck extends Step {
  readonly typeName = `${prefix}ResourceCheck`;
  readonly asker: Asker;
  readonly about: ResourceQuestion;
  constructor(asker: Asker, about: ResourceQuestion) {
    super();
    this.asker = asker;
    this.about = about;
  }
}

class Decision extends Step {
  readonly typeName = `${prefix}Decision`;
  readonly answer: AuthorizerAnswer;
  constructor(answer: AuthorizerAnswer) {
    super();
    this.answer = answer;
  }
}

/** Returns a function of a receiver of one class, and of strings. */
function on<T extends Step>(
  receiver: abstract new (...parameters: never[]) => T,
  work: (receiver: T, ...texts: string[]) => Result,
): Declaration[1] {
  return ([first, ...rest]) => {
    if (!(first instanceof receiver) || !rest.every(isText)) return noSuchOverload;
    return work(first, ...rest);
  };
}

function isText(value: Value): value is string {
  return typeof value === 'string';
}

function serviceAccount({ asker }: Authorizer, namespace = '', name = ''): Result {
  if (checkDns1123Subdomain(name).length > 0) return new Fault('Invalid service account name');
  if (checkDns1123Label(namespace).length > 0) return new Fault('Invalid service account namespace');
  return new Authorizer({ ...asker, serviceAccount: { namespace, name } });
}

function path({ asker }: Authorizer, text = ''): Result {
  return text.trim() === '' ? new Fault('path must not be empty') : new PathCheck(asker, text);
}

function resource({ asker, group }: GroupCheck, text = ''): Result {
  if (text.trim() === '') return new Fault('resource must not be empty');
  const about = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' };
  return new ResourceCheck(asker, { ...about, group, resource: text });
}

function narrowed(field: keyof ResourceQuestion): Declaration[1] {
  return on(
    ResourceCheck,
    ({ asker, about }, text = '') => new ResourceCheck(asker, { ...about, [field]: text }),
  );
}

function check(
  { ask, serviceAccount: account }: Asker,
  about: AuthorizerQuestion['about'],
  verb: string,
): Decision {
  return new Decision(ask({ verb, serviceAccount: account, about }));
}

/** Cost of a check: as upstream, one expression may make two. */
const checking = fixed(350_000);

function selectorRange(length: Range): Range {
  const requirements = scaled(scaled(length, 0.5), 50);
  return plus(exactly(10), scaled(length, perCharacter), requirements);
}

const selecting: Cost = {
  actual: (args) => selectorRange(exactly(sizeOf(args[1]))).max,
  estimate: (args) => ({ cost: selectorRange(argument(args, 1).size) }),
};

const [authorizer, resourceCheck, decision] = [
  `${prefix}Authorizer`,
  `${prefix}ResourceCheck`,
  `${prefix}Decision`,
];

export const authorization: readonly Declaration[] = [
  [`${authorizer}.path(string): ${prefix}PathCheck`, on(Authorizer, path)],
  [
    `${authorizer}.group(string): ${prefix}GroupCheck`,
    on(Authorizer, ({ asker }, group = '') => new GroupCheck(asker, group)),
  ],
  [`${authorizer}.serviceAccount(string, string): ${authorizer}`, on(Authorizer, serviceAccount)],
  [`${prefix}GroupCheck.resource(string): ${resourceCheck}`, on(GroupCheck, resource)],
  [`${resourceCheck}.subresource(string): ${resourceCheck}`, narrowed('subresource')],
  [`${resourceCheck}.namespace(string): ${resourceCheck}`, narrowed('namespace')],
  [`${resourceCheck}.name(string): ${resourceCheck}`, narrowed('name')],
  [`${resourceCheck}.fieldSelector(string): ${resourceCheck}`, narrowed('fieldSelector'), selecting],
  [`${resourceCheck}.labelSelector(string): ${resourceCheck}`, narrowed('labelSelector'), selecting],
  [
    `${prefix}PathCheck.check(string): ${decision}`,
    on(PathCheck, ({ asker, path: text }, verb = '') => check(asker, { path: text }, verb)),
    checking,
  ],
  [
    `${resourceCheck}.check(string): ${decision}`,
    on(ResourceCheck, ({ asker, about }, verb = '') => check(asker, about, verb)),
    checking,
  ],
  [`${decision}.errored(): bool`, on(Decision, ({ answer }) => answer.error !== undefined)],
  [`${decision}.error(): string`, on(Decision, ({ answer }) => answer.error ?? '')],
  [`${decision}.allowed(): bool`, on(Decision, ({ answer }) => answer.allowed)],
  [`${decision}.reason(): string`, on(Decision, ({ answer }) => answer.reason)],
];
