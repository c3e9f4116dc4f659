/** `ctl auth`: inspects authentication and authorization. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { ruleHeaders, ruleRows } from '../access/rule-rows.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import { type ApiResource, findResource } from '../objects/discovery.ts';
import { recordAt, textAt, valueAt } from '../objects/objects.ts';
import { typedFormat } from '../printers/object-format.ts';
import { TableWriter } from '../printers/table-writer.ts';
import type { Verb, VerbContext, VerbGroup } from '../verb.ts';
import { reconcile } from './auth-reconcile.ts';

const reviews = '/apis/authorization.k8s.io/v1';

const canIFlags = {
  'all-namespaces': { type: 'boolean', short: 'A', about: 'in all namespaces' },
  list: { type: 'boolean', about: 'print everything that is allowed' },
  'no-headers': { type: 'boolean', about: 'with --list: do not print the header line' },
  quiet: { type: 'boolean', short: 'q', about: 'print nothing; exit status 0: yes, 1: no' },
  subresource: { type: 'string', hint: 'NAME', about: 'subresource, such as log or scale' },
} as const satisfies FlagTable;

const canI: Verb = {
  about: 'check whether an action is allowed; exit status 0: yes, 1: no',
  words: ['VERB TYPE[/NAME]', 'VERB TYPE NAME', 'VERB /PATH', '--list'],
  flags: canIFlags,
  examples: [
    'ctl auth can-i create deployments # ask for yourself',
    'ctl auth can-i list pods --as ann -n shop # ask for another user',
    'ctl auth can-i --list # list everything that you may do',
  ],
  run: (context) => (context.flags.on('list') ? list(context) : check(context)),
};

async function check(context: VerbContext): Promise<void> {
  const { flags, io } = context;
  if (flags.given('no-headers')) throw new UsageError('--no-headers cannot be set without --list specified');
  const attributes = await attributesOf(context);
  const review = await context.cluster().send('POST', `${reviews}/selfsubjectaccessreviews`, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: attributes,
  });
  const status = recordAt(review, 'status');
  const allowed = status.allowed === true;
  const why = [textAt(status, 'reason'), textAt(status, 'evaluationError')].filter((text) => text !== '');
  if (!flags.on('quiet')) io.out(allowed ? 'yes\n' : `${['no', ...why].join(' - ')}\n`);
  if (!allowed) io.exitWith(1);
}

/** Returns the words of the command line. Throws UsageError for too few or too many. */
function askedWords({ words }: Pick<Flags, 'words'>) {
  const [verb, what, named, ...more] = words;
  if (
    verb === undefined ||
    what === undefined ||
    more.length > 0 ||
    (named !== undefined && what.includes('/'))
  )
    throw new UsageError(
      'you must specify two arguments: verb resource or verb resource/resourceName.\n' +
        "See 'minik8s ctl auth can-i -h' for help.",
    );
  return { verb, what, named };
}

async function attributesOf(context: VerbContext): Promise<JsonObject> {
  const { flags, io } = context;
  const { verb, what, named } = askedWords(flags);
  const warn = (text: string) => io.err(`Warning: ${text}\n\n`);
  const subresource = flags.text('subresource');
  if (what.startsWith('/')) {
    if (subresource) throw new UsageError('--subresource can not be used with NonResourceURL');
    warnOfUnknownVerb(verb, pathVerbs, warn);
    return { nonResourceAttributes: { verb, path: what } };
  }
  const [word = '', ...rest] = what.split('/');
  const resource = await resourceOf(context, word, warn);
  const everywhere = flags.on('all-namespaces');
  if (!everywhere) {
    if (resource.namespaced === false) warn(notNamespaced(resource));
    warnOfUnknownVerb(verb, resourceVerbs, warn);
  }
  const namespace = everywhere ? undefined : context.cluster().namespace;
  const name = named ?? rest.join('/');
  return { resourceAttributes: resourceAttributes({ verb, namespace, resource, subresource, name }) };
}

function warnOfUnknownVerb(verb: string, known: ReadonlySet<string>, warn: (text: string) => void): void {
  if (!known.has(verb)) warn(`verb '${verb}' is not a known verb`);
}

interface ResourceQuestion {
  readonly verb: string;
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  readonly resource: Asked;
  readonly subresource: string | undefined;
  /** Empty for any name. */
  readonly name: string;
}

function resourceAttributes({ verb, namespace, resource, subresource, name }: ResourceQuestion): JsonObject {
  return {
    verb,
    ...(namespace !== undefined && { namespace }),
    ...(resource.group && { group: resource.group }),
    resource: resource.plural,
    ...(subresource && { subresource }),
    ...(name && { name }),
  };
}

type Asked = Pick<ApiResource, 'group' | 'plural'> & Partial<Pick<ApiResource, 'namespaced'>>;

/** Resources that discovery does not list are used as they are written. */
async function resourceOf(context: VerbContext, word: string, warn: (text: string) => void): Promise<Asked> {
  if (word === '*') return { group: '', plural: word };
  const resources = await context.cluster().resources();
  try {
    return findResource(resources, word);
  } catch {
    const [name = '', ...group] = word.toLowerCase().split('.');
    const where = group.length > 0 ? ` in group '${group.join('.')}'` : '';
    if (!undiscovered.has(word.toLowerCase()))
      warn(`the server doesn't have a resource type '${name}'${where}`);
    return { group: '', plural: word };
  }
}

/** Resources of RBAC rules that no server lists. */
const undiscovered: ReadonlySet<string> = new Set(['users', 'groups']);

const notNamespaced = ({ group, plural }: Asked) =>
  `resource '${plural}' is not namespace scoped${group && ` in group '${group}'`}`;

const resourceVerbs: ReadonlySet<string> = new Set(
  'get list watch create update patch delete deletecollection use bind impersonate * approve sign escalate attest'.split(
    ' ',
  ),
);
const pathVerbs: ReadonlySet<string> = new Set('get put post head options delete patch *'.split(' '));

async function list({ cluster, flags, io, palette }: VerbContext): Promise<void> {
  if (flags.words.length > 0) throw new UsageError('list option must be specified with no arguments');
  if (flags.on('quiet') || flags.on('all-namespaces') || flags.text('subresource'))
    throw new UsageError(
      "list option can't be specified with neither quiet, all-namespaces nor subresource options",
    );
  const review = await cluster().send('POST', `${reviews}/selfsubjectrulesreviews`, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: cluster().namespace },
  });
  const status = recordAt(review, 'status');
  if (status.incomplete === true)
    io.err(`Warning: the list may be incomplete: ${textAt(status, 'evaluationError')}\n`);
  const headers = flags.on('no-headers') ? [] : ruleHeaders;
  io.out(new TableWriter(palette).format(ruleRows(status), headers));
}

const whoami: Verb = {
  about: 'print the user name and groups with which the server authenticated you',
  flags: printFlags,
  examples: ['ctl auth whoami # see as which user you make requests'],
  async run({ cluster, flags, io, palette }) {
    const format = await typedFormat({ io, flags });
    const review = await cluster().send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    });
    const user = recordAt(review, 'status', 'userInfo');
    io.out(format ? format(review) : new TableWriter(palette).format(userRows(user), ['ATTRIBUTE', 'VALUE']));
  },
};

function userRows(user: JsonObject): string[][] {
  const listed = (value: unknown) => `[${Array.isArray(value) ? value.join(' ') : ''}]`;
  const groups = valueAt(user, 'groups');
  const extra = recordAt(user, 'extra');
  const row = (title: string, text: string) => (text ? [[title, text]] : []);
  return [
    ...row('Username', textAt(user, 'username')),
    ...row('UID', textAt(user, 'uid')),
    ...(Array.isArray(groups) && groups.length > 0 ? [['Groups', listed(groups)]] : []),
    ...Object.keys(extra)
      .sort()
      .map((key) => [`Extra: ${key}`, listed(extra[key])]),
  ];
}

export const auth: VerbGroup = {
  about: 'check permissions and reconcile roles',
  group: 'Troubleshooting and Debugging Commands',
  examples: [
    'ctl auth can-i create deployments # check a permission',
    'ctl auth whoami # see as which user you make requests',
  ],
  verbs: { 'can-i': canI, whoami, reconcile },
};
