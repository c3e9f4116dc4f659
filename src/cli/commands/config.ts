/** `ctl config`: the kubeconfig file. The verbs that change it are in config-change.ts. */
import { dirname, resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import { readBytesSync } from '../../os/bounded-file.ts';
import type { FlagTable } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import {
  currentContextOf,
  entryNames,
  findEntry,
  type KubeconfigDocuments,
} from '../kubeconfig/documents.ts';
import { readDocuments } from '../kubeconfig/files.ts';
import { viewedDocument } from '../kubeconfig/view-plan.ts';
import { textAt } from '../objects/objects.ts';
import { madeFormat } from '../printers/object-format.ts';
import { TableWriter } from '../printers/table-writer.ts';
import type { Verb, VerbContext, VerbGroup } from '../verb.ts';
import {
  deleteCluster,
  deleteContext,
  deleteUser,
  renameContext,
  setCluster,
  setContext,
  setCredentials,
  setProperty,
  unsetProperty,
  useContext,
} from './config-change.ts';

const viewFlags = {
  raw: { type: 'boolean', about: 'include secrets' },
  minify: { type: 'boolean', about: 'print only the parts that the current context uses' },
  flatten: {
    type: 'boolean',
    about: 'replace paths by the contents of the files, with secrets: a file for another machine',
  },
  merge: { type: 'boolean', on: true, about: 'merge all files of $KUBECONFIG; off with --kubeconfig' },
  ...printFlags,
} as const satisfies FlagTable;

const view: Verb = {
  about: 'print the kubeconfig, without its secrets',
  flags: viewFlags,
  examples: [
    'ctl config view # print the kubeconfig',
    'ctl config view --minify # print what the current context uses',
    "ctl config view --raw -o jsonpath='{.users[0].user.token}' # print a secret",
    'ctl config view --flatten --minify > portable.conf # make a file for another machine',
  ],
  async run({ io, flags }) {
    if (flags.words.length > 0) throw new UsageError(`unexpected arguments: ${flags.words.join(' ')}`);
    const documents = readDocuments(io, flags);
    const merges = flags.given('merge') ? flags.on('merge') : !documents.explicit;
    if (!merges && !documents.explicit)
      throw new UsageError('if merge==false a precise file must be specified: give --kubeconfig');
    const output = flags.text('output') || flags.text('template') ? flags : flags.with('output', 'yaml');
    const format = madeFormat(output);
    if (!format) throw new UsageError('ctl config view: -o wide is not supported; use yaml or json');
    const options = {
      minify: flags.on('minify'),
      flatten: flags.on('flatten'),
      raw: flags.on('raw'),
      context: flags.text('context'),
    };
    const encode = (file: string, kubeconfig: string) =>
      readBytesSync(resolve(dirname(resolve(kubeconfig)), file)).toString('base64');
    io.out(format(viewedDocument(documents, options, encode)));
  },
};

const currentContext: Verb = {
  about: 'print the name of the current context',
  examples: ['ctl config current-context # see which cluster commands work with'],
  async run({ io, flags }) {
    const name = currentContextOf(readDocuments(io, flags));
    if (!name) throw new Error('current-context is not set');
    io.out(`${name}\n`);
  },
};

const getContexts: Verb = {
  about: 'list the contexts, or those that are named',
  words: '[NAME...]',
  flags: {
    output: { type: 'string', short: 'o', hint: 'name', about: 'names only' },
    'no-headers': { type: 'boolean', about: 'do not print the header line' },
  },
  examples: [
    'ctl config get-contexts # list the contexts',
    'ctl config get-contexts main -o name # see if there is a context',
  ],
  async run(context) {
    const { io, flags, palette } = context;
    const documents = readDocuments(io, flags);
    const names = chosenContexts(context, documents);
    if (flags.oneOf('output', ['name'] as const)) {
      io.out(names.map((name) => `${name}\n`).join(''));
      return;
    }
    const current = currentContextOf(documents);
    const rows = names.map((name) => {
      const found = findEntry(documents, 'contexts', name)?.value;
      const cells = ['cluster', 'user', 'namespace'].map((field) => textAt(found, field));
      return [name === current ? '*' : '', name, ...cells];
    });
    const headers = flags.on('no-headers') ? [] : ['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE'];
    io.out(new TableWriter(palette).format(rows, headers));
  },
};

/** Returns the names to list, sorted; reports words that name no context. */
function chosenContexts({ flags, report }: VerbContext, documents: KubeconfigDocuments): readonly string[] {
  const all = entryNames(documents, 'contexts');
  if (flags.words.length === 0) return all;
  for (const word of flags.words) if (!all.includes(word)) report(new Error(`context ${word} not found`));
  return all.filter((name) => flags.words.includes(name));
}

/** Returns a verb that lists the names of entries. */
const listing = (list: 'clusters' | 'users'): Verb => ({
  about: `list the ${list} of the kubeconfig`,
  examples: [`ctl config get-${list} # list the ${list}`],
  async run({ io, flags }) {
    const names = entryNames(readDocuments(io, flags), list);
    io.out(['NAME', ...names].map((name) => `${name}\n`).join(''));
  },
});

export const config: VerbGroup = {
  about: 'show and change the kubeconfig file',
  group: 'Other Commands',
  examples: [
    'ctl config get-contexts # list the contexts',
    'ctl config set-context --current --namespace=shop # make a namespace the default',
  ],
  verbs: {
    view,
    'current-context': currentContext,
    'get-contexts': getContexts,
    'get-clusters': listing('clusters'),
    'get-users': listing('users'),
    'use-context': useContext,
    'set-context': setContext,
    'set-cluster': setCluster,
    'set-credentials': setCredentials,
    'rename-context': renameContext,
    'delete-context': deleteContext,
    'delete-cluster': deleteCluster,
    'delete-user': deleteUser,
    set: setProperty,
    unset: unsetProperty,
  },
};
