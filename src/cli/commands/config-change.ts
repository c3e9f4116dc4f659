/**
 * The verbs of `ctl config` that change the kubeconfig. An entry is changed in the file that has it; a new
 * entry goes to the file of --kubeconfig, the first existing file of $KUBECONFIG, or the file in use.
 */
import { UsageError } from '../../base/usage-error.ts';
import { sourceFiles } from '../create/source-files.ts';
import { connectionFlags, type FlagTable } from '../flags/flags.ts';
import {
  Changes,
  currentContextOf,
  type EntryList,
  findEntry,
  type KubeconfigDocuments,
} from '../kubeconfig/documents.ts';
import {
  changedCluster,
  changedContext,
  changedUser,
  pathFields,
  withRelativePaths,
} from '../kubeconfig/entries.ts';
import { changeFiles, readDocuments } from '../kubeconfig/files.ts';
import { newEntry, propertySet, propertyUnset } from '../kubeconfig/properties.ts';
import type { Verb, VerbContext } from '../verb.ts';

/** Returns the one word of a command; throws UsageError for another number of words. */
function oneName({ flags }: VerbContext, command: string): string {
  const [name, ...more] = flags.words;
  if (!name || more.length > 0) throw new UsageError(`ctl config ${command}: give one NAME`);
  return name;
}

const requireEntry = (documents: KubeconfigDocuments, list: EntryList, name: string, message: string) => {
  const found = findEntry(documents, list, name);
  if (!found) throw new Error(message);
  return found;
};

export const useContext: Verb = {
  about: 'set the current context',
  words: 'NAME',
  examples: ['ctl config use-context main # work with the cluster of a context'],
  async run(context) {
    const name = oneName(context, 'use-context');
    await changeFiles(context.io, context.flags, (documents) => {
      const message = `no context exists with the name: "${name}"`;
      requireEntry(documents, 'contexts', name, `${message}; minik8s ctl config get-contexts lists them`);
      return new Changes(documents).use(name);
    });
    context.io.out(`Switched to context "${name}".\n`);
  },
};

export const setContext: Verb = {
  about: 'create or change a context: its --cluster, --user and --namespace',
  words: 'NAME',
  flags: {
    current: { type: 'boolean', about: 'the current context' },
    cluster: { ...connectionFlags.cluster, about: 'cluster of the context', usual: 'unchanged' },
    user: { ...connectionFlags.user, about: 'user of the context', usual: 'unchanged' },
    namespace: { ...connectionFlags.namespace, about: 'namespace of the context', usual: 'unchanged' },
  },
  examples: [
    'ctl config set-context --current --namespace=shop # make a namespace the default',
    'ctl config set-context shop --cluster=main --user=ann --namespace=shop # add a context',
  ],
  async run(context) {
    const { io, flags } = context;
    const [word = '', ...more] = flags.words;
    if (more.length > 0) throw new UsageError('ctl config set-context: give one NAME');
    if (word === '' && !flags.on('current'))
      throw new UsageError('you must specify a non-empty context name or --current');
    if (word !== '' && flags.on('current'))
      throw new UsageError('you cannot specify both a context name and --current');
    const name = word || currentContextOf(readDocuments(io, flags));
    if (name === '') throw new Error('no current context is set');
    const done = findEntry(readDocuments(io, flags), 'contexts', name) ? 'modified' : 'created';
    await changeFiles(io, flags, (documents) => {
      const before = findEntry(documents, 'contexts', name)?.value ?? newEntry.contexts;
      return new Changes(documents).put('contexts', name, changedContext(before, flags));
    });
    io.out(`Context "${name}" ${done}.\n`);
  },
};

const embedFlag = {
  'embed-certs': { type: 'boolean', about: 'keep the contents of the files instead of their paths' },
} as const satisfies FlagTable;

/** Returns a verb that creates or changes an entry with paths of files. */
function settingVerb(
  list: 'clusters' | 'users',
  change: typeof changedCluster,
  verb: Pick<Verb, 'about' | 'flags' | 'examples'> & { readonly command: string; readonly what: string },
): Verb {
  const { command, what, ...rest } = verb;
  return {
    ...rest,
    words: 'NAME',
    async run(context) {
      const { io, flags } = context;
      const name = oneName(context, command);
      await changeFiles(io, flags, (documents) => {
        const found = findEntry(documents, list, name);
        const file = found?.path ?? documents.target;
        const after = change(found?.value ?? newEntry[list], flags, sourceFiles.read);
        return new Changes(documents).put(list, name, withRelativePaths(after, pathFields[list], file), file);
      });
      io.out(`${what} "${name}" set.\n`);
    },
  };
}

export const setCluster = settingVerb('clusters', changedCluster, {
  command: 'set-cluster',
  what: 'Cluster',
  about: 'create or change a cluster: its server and certificate authority',
  flags: {
    server: { ...connectionFlags.server, about: 'address and port of the API server of the cluster' },
    'proxy-url': { type: 'string', hint: 'URL', about: 'proxy between the client and the cluster' },
    ...embedFlag,
  },
  examples: [
    'ctl config set-cluster main --server=https://10.0.0.5:6443 --certificate-authority=ca.crt # add a cluster',
    'ctl config set-cluster main --tls-server-name=kubernetes # change one field of a cluster',
  ],
});

export const setCredentials = settingVerb('users', changedUser, {
  command: 'set-credentials',
  what: 'User',
  about: 'create or change a user: its certificate, token or plugin',
  flags: {
    ...embedFlag,
    username: { type: 'string', hint: 'NAME', about: 'user name of basic authentication' },
    password: { type: 'string', hint: 'PASSWORD', about: 'password of basic authentication' },
    'auth-provider': { type: 'string', hint: 'NAME', about: 'authentication provider of the client' },
    'auth-provider-arg': {
      type: 'string',
      hint: 'KEY=VALUE',
      about: 'argument of the provider; KEY- removes one; may be repeated',
    },
    'exec-command': { type: 'string', hint: 'COMMAND', about: 'program that prints the credentials' },
    'exec-api-version': { type: 'string', hint: 'VERSION', about: 'API version of the program' },
    'exec-arg': { type: 'string', hint: 'TEXT', about: 'argument of the program; may be repeated' },
    'exec-env': {
      type: 'string',
      hint: 'KEY=VALUE',
      about: 'environment variable of the program; KEY- removes one; may be repeated',
    },
    'exec-interactive-mode': {
      type: 'string',
      hint: 'IfAvailable|Always|Never',
      about: 'whether the program may ask the user',
      usual: 'IfAvailable',
    },
    'exec-provide-cluster-info': { type: 'boolean', about: 'tell the program which cluster it is for' },
  },
  examples: [
    'ctl config set-credentials ann --client-certificate=ann.crt --client-key=ann.key # add a user with a certificate',
    'ctl config set-credentials robot --token="$TOKEN" # add a user with a token',
  ],
});

export const renameContext: Verb = {
  about: 'rename a context',
  words: 'NAME NEW-NAME',
  examples: ['ctl config rename-context minik8s home # give a context another name'],
  async run({ io, flags }) {
    const [name = '', newName = '', ...more] = flags.words;
    if (name === '' || newName === '' || more.length > 0)
      throw new UsageError('ctl config rename-context: give the NAME and a new one');
    await changeFiles(io, flags, (documents) => {
      const cannot = `cannot rename the context "${name}", `;
      const { path, value } = requireEntry(
        documents,
        'contexts',
        name,
        `${cannot}it's not in ${documents.target}`,
      );
      if (findEntry(documents, 'contexts', newName))
        throw new Error(`${cannot}the context "${newName}" already exists in ${documents.target}`);
      const changes = new Changes(documents);
      if (currentContextOf(documents) === name) changes.use(newName);
      return changes.remove('contexts', name).put('contexts', newName, value, path);
    });
    io.out(`Context "${name}" renamed to "${newName}".\n`);
  },
};

/** Returns a verb that deletes an entry. */
const deletingVerb = (list: EntryList, what: string): Verb => ({
  about: `delete a ${what} from the kubeconfig`,
  words: 'NAME',
  examples: [`ctl config delete-${what} old # remove a ${what}`],
  async run(context) {
    const { io, flags } = context;
    const name = oneName(context, `delete-${what}`);
    const { target } = readDocuments(io, flags);
    let wasCurrent = false;
    await changeFiles(io, flags, (documents) => {
      requireEntry(documents, list, name, `cannot delete ${what} ${name}, not in ${target}`);
      wasCurrent = list === 'contexts' && currentContextOf(documents) === name;
      return new Changes(documents).remove(list, name);
    });
    if (wasCurrent)
      io.err(
        'warning: this removed your active context, use "ctl config use-context" to select a different one\n',
      );
    io.out(`deleted ${what} ${name} from ${target}\n`);
  },
});

export const deleteContext = deletingVerb('contexts', 'context');
export const deleteCluster = deletingVerb('clusters', 'cluster');
export const deleteUser = deletingVerb('users', 'user');

export const setProperty: Verb = {
  about: 'set one field, such as clusters.main.server',
  words: 'PROPERTY VALUE',
  flags: {
    'set-raw-bytes': { type: 'boolean', about: 'the value of a bytes field is plain text, not base64' },
  },
  examples: ['ctl config set contexts.main.namespace shop # set one field by its path'],
  async run({ io, flags }) {
    const [path = '', value, ...more] = flags.words;
    if (path === '' || value === undefined || more.length > 0)
      throw new UsageError('ctl config set: give a PROPERTY and its VALUE');
    await changeFiles(io, flags, (documents) =>
      propertySet(documents, path, value, flags.on('set-raw-bytes')),
    );
    io.out(`Property "${path}" set.\n`);
  },
};

export const unsetProperty: Verb = {
  about: 'remove one field, such as contexts.main.namespace',
  words: 'PROPERTY',
  examples: ['ctl config unset current-context # remove one field'],
  async run({ io, flags }) {
    const [path = '', ...more] = flags.words;
    if (path === '' || more.length > 0) throw new UsageError('ctl config unset: give one PROPERTY');
    await changeFiles(io, flags, (documents) => propertyUnset(documents, path));
    io.out(`Property "${path}" unset.\n`);
  },
};
