/**
 * Stand-ins for the suite's images, under its names, in this machine's engine: agnhost is upstream's own
 * program beside busybox, bash and a few of Debian's; web servers are busybox's; etcd is the one in minik8s.
 */
import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemExec } from '../../src/os/exec.ts';
import { insideEtcd } from '../fixtures/etcd-binary.ts';
import { copyProgram, importImage } from '../fixtures/image-root.ts';
import { imageNames } from './image-names.ts';
import type { Programs } from './programs.ts';

const label = 'minik8s.io/content';

/** Folder of the pages of the suite's web servers. */
const apache = '/usr/local/apache2/htdocs';
const nginx = '/usr/share/nginx/html';

interface Image {
  /** Name of a stand-in as in manifest.go, later with registry and tag. */
  readonly name: string;
  /** Lines of a Dockerfile. */
  readonly changes: readonly string[];
  /** Another image of this file, or what puts files into an empty folder. */
  readonly from: string | ((root: string) => Promise<void>);
}

const passwd = [
  'root:x:0:0:root:/root:/bin/sh',
  'user-defined-in-image:x:1000:1000::/home:/bin/sh',
  'nobody:x:65534:65534:nobody:/:/bin/false',
];
const group = [
  'root:x:0:',
  'user-defined-in-image:x:1000:',
  'group-defined-in-image:x:50000:user-defined-in-image',
  'nobody:x:65534:',
];

/** Busybox with all its names, and bash. */
async function busyboxRoot(root: string): Promise<void> {
  for (const place of ['bin', 'etc', 'root', 'home', 'usr/bin', 'usr/sbin', 'var'])
    await mkdir(join(root, place), { recursive: true });
  for (const place of ['tmp', 'var/tmp']) {
    await mkdir(join(root, place));
    await chmod(join(root, place), 0o1777);
  }
  await cp('/bin/busybox', join(root, 'bin/busybox'), { dereference: true });
  const { stdout } = await systemExec('/bin/busybox', ['--list']);
  for (const name of stdout.split('\n').filter((each) => each !== '' && each !== 'busybox'))
    await symlink('busybox', join(root, 'bin', name));
  await shells(root);
  await write(root, 'etc/passwd', `${passwd.join('\n')}\n`);
  await write(root, 'etc/group', `${group.join('\n')}\n`);
  await write(root, 'etc/nsswitch.conf', 'hosts: files dns\n');
  await write(root, join(apache, 'index.html'), '<h1>It works!</h1>\n');
  await write(root, join(nginx, 'index.html'), 'Welcome to nginx!\n');
}

/**
 * Busybox with the page of a picture. A test of image volumes looks for `data.json` at the top of the image,
 * and for the name of the system on which upstream's image is based.
 */
async function pictureRoot(root: string, name: string): Promise<void> {
  await busyboxRoot(root);
  const data = `{"image": "${name}.jpg"}\n`;
  for (const path of [`www/${name}/data.json`, 'data.json']) await write(root, path, data);
  await write(root, `www/${name}/${name}.jpg`, name);
  await write(root, 'etc/os-release', 'NAME="Alpine Linux"\n');
}

/**
 * `/bin/sh` is busybox's, whose messages a test compares. `sh`, which PATH finds in /usr/bin, is bash: unlike
 * upstream's, Debian's busybox does not hand on variables with names like `data-1`, and neither does dash.
 */
async function shells(root: string): Promise<void> {
  await copyProgram(root, '/bin/bash');
  await symlink('/bin/bash', join(root, 'usr/bin/sh'));
}

/**
 * Shell for images with programs of their own: Debian's busybox, as a shell, prefers its applets to all other
 * programs.
 */
async function onlyBash(root: string): Promise<void> {
  await rm(join(root, 'bin/sh'));
  await symlink('bash', join(root, 'bin/sh'));
}

async function write(root: string, path: string, content: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}

/**
 * Programs that busybox lacks, or has in another form than the tests call: its nsenter runs its own applets
 * instead of the programs of the namespace that it enters.
 */
const debian = ['dig', 'nslookup', 'host', 'getent', 'curl', 'nsenter'].map((name) => `/usr/bin/${name}`);

async function agnhostRoot(root: string, programs: Programs): Promise<void> {
  await busyboxRoot(root);
  await onlyBash(root);
  for (const program of [...debian, '/bin/nc.openbsd']) await copyProgram(root, program);
  await symlink('/bin/nc.openbsd', join(root, 'usr/bin/nc'));
  await cp(programs.agnhost, join(root, 'agnhost'));
  await symlink('agnhost', join(root, 'agnhost-2'));
  await mkdir(join(root, 'uploads'));
  for (const file of ['localhost.crt', 'localhost.key'])
    await cp(join(programs.porter, file), join(root, file));
}

/** Serves the folder on port 80, and ends at once: busybox as process 1 does not hear SIGTERM. */
const webServer = (folder: string) => [
  'EXPOSE 80',
  'STOPSIGNAL SIGKILL',
  `CMD ["httpd", "-f", "-p", "80", "-h", "${folder}"]`,
];

/** The images that others are made from come first. Images that a version of the suite lacks are not made. */
const standIns = (programs: Programs): readonly Image[] => [
  {
    name: 'agnhost',
    changes: ['EXPOSE 80 8080 8081 9376 5000', 'ENTRYPOINT ["/agnhost"]', 'CMD ["pause"]'],
    from: (root) => agnhostRoot(root, programs),
  },
  { name: 'busybox', changes: ['CMD ["sh"]'], from: busyboxRoot },
  {
    name: 'nonewprivs',
    changes: ['CMD ["nnp"]'],
    async from(root) {
      await busyboxRoot(root);
      await cp(programs.nnp, join(root, 'usr/bin/nnp'));
      await chmod(join(root, 'usr/bin/nnp'), 0o4755);
    },
  },
  {
    name: 'resource-consumer',
    changes: ['EXPOSE 8080', 'ENTRYPOINT ["/consumer"]'],
    async from(root) {
      await busyboxRoot(root);
      await cp(programs.consumer, join(root, 'consumer'));
      await mkdir(join(root, 'consume-cpu'));
      await cp(programs.consumeCpu, join(root, 'consume-cpu/consume-cpu'));
      await copyProgram(root, '/usr/bin/stress');
    },
  },
  {
    name: 'sample-apiserver',
    changes: ['ENTRYPOINT ["/sample-apiserver"]'],
    async from(root) {
      await busyboxRoot(root);
      await cp(programs.sampleApiServer, join(root, 'sample-apiserver'));
    },
  },
  {
    name: 'etcd',
    changes: ['ENTRYPOINT ["/usr/local/bin/etcd"]'],
    async from(root) {
      await busyboxRoot(root);
      await mkdir(join(root, 'usr/local/bin'), { recursive: true });
      await cp(insideEtcd, join(root, 'usr/local/bin/etcd'));
    },
  },
  ...['jessie-dnsutils', 'glibc-dns-testing'].map((name) => ({ name, changes: [], from: 'agnhost' })),
  ...['nautilus', 'kitten'].map((name) => ({
    name,
    changes: webServer(`/www/${name}`),
    from: (root: string) => pictureRoot(root, name),
  })),
  { name: 'pause', changes: ['ENTRYPOINT ["/agnhost", "pause"]', 'CMD []'], from: 'agnhost' },
  { name: 'nonroot', changes: ['USER 1234'], from: 'busybox' },
  { name: 'httpd', changes: webServer(apache), from: 'busybox' },
  { name: 'nginx', changes: webServer(nginx), from: 'busybox' },
];

/** Returns the stand-ins under the full names that this version of the suite gives them. */
async function imagesOf(programs: Programs): Promise<readonly Image[]> {
  const names = imageNames(await readFile(programs.imageManifest, 'utf8'));
  return standIns(programs).flatMap(({ name, changes, from }) =>
    (names.get(name) ?? []).map((full) => ({
      name: full,
      changes,
      from: typeof from === 'string' ? (names.get(from)?.at(0) ?? from) : from,
    })),
  );
}

/** Makes those that are not there as this file makes them; returns the names of all. */
export async function makeSuiteImages(programs: Programs, say: (line: string) => void): Promise<string[]> {
  const content = createHash('sha256');
  for (const file of [
    import.meta.filename,
    programs.agnhost,
    programs.nnp,
    programs.consumer,
    programs.consumeCpu,
    programs.sampleApiServer,
    insideEtcd,
  ])
    content.update(await readFile(file));
  const version = content.digest('hex').slice(0, 16);
  const images = await imagesOf(programs);
  let made = 0;
  for (const image of images) {
    if ((await contentOf(image.name)) === version) continue;
    await make(image, version);
    made++;
  }
  say(made === 0 ? 'images: all there' : `images: ${made} made`);
  return images.map(({ name }) => name);
}

async function make({ name, changes, from }: Image, version: string): Promise<void> {
  if (typeof from !== 'string') await importRoot(from, name);
  // The image is built, because `docker import` accepts fewer of these lines.
  const base = typeof from === 'string' ? from : name;
  const input = `${[`FROM ${base}`, ...changes, `LABEL ${label}=${version}`].join('\n')}\n`;
  await systemExec('docker', ['build', '--quiet', '--tag', name, '-'], { input });
}

async function importRoot(fill: (root: string) => Promise<void>, name: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'minik8s-suite-image-'));
  try {
    // The root of what runs there has to be open to everybody.
    await chmod(root, 0o755);
    await fill(root);
    await importImage(root, name, []);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The label of an image; empty when it has none or is not there. */
async function contentOf(name: string): Promise<string> {
  const format = `{{index .Config.Labels "${label}"}}`;
  const { stdout } = await systemExec('docker', ['image', 'ls', '--quiet', name]);
  if (stdout.trim() === '') return '';
  return (await systemExec('docker', ['image', 'inspect', '--format', format, name])).stdout.trim();
}
