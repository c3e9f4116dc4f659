/**
 * Secrets are planted wherever the cluster and this machine may have some; the bundle contains none of them.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { supportBundleCommand } from '../../../src/roles/support-bundle.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { runRoleCommand } from '../../fixtures/role-command.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const key = `-----BEGIN PRIVATE KEY-----\n${'MIIplantedKeyLine'.repeat(4)}\n-----END PRIVATE KEY-----\n`;
const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.plantedSignature';

const planted = {
  ofSecret: 'hunter2-Zebra',
  quoted: 'quo"ted\\Secret1',
  ofRegistry: 'registry-Pass-31',
  annotated: 'annotated-Secret-9',
  literal: 'literal-Env-77',
  argument: 'argument-Secret-12',
  assigned: 'assigned-Secret-13',
  slurm: 'slurm-Pass-55',
  slurmKey: 'MIIplantedKeyLine',
  bootstrap: 'k7x9q2m4p8r1t5w3',
  ofConfigMap: 'configmap-Pass-21',
  inUrl: 'url-Pass-41',
  ofToken: 'plantedSignature',
  short: 'ab1!',
  ofJob: 'job-Variable-15',
  ofHeader: 'header-Value-16',
  ofInput: 'input-Value-17',
  cut: 'a-Secret-of-which-only-this-end-is-there',
} as const;

const metadata = (name: string, more: object = {}) => ({ name, ...more });

const objects: readonly (readonly [path: string, body: object])[] = [
  [
    'secrets',
    {
      metadata: metadata('db', {
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
            kind: 'Secret',
            stringData: { password: planted.annotated },
            data: { password: base64(planted.annotated) },
          }),
        },
      }),
      stringData: { password: planted.ofSecret, odd: planted.quoted, pin: planted.short },
    },
  ],
  [
    'secrets',
    {
      metadata: metadata('registry'),
      type: 'kubernetes.io/dockerconfigjson',
      stringData: {
        '.dockerconfigjson': JSON.stringify({
          auths: { r: { username: 'u', password: planted.ofRegistry } },
        }),
      },
    },
  ],
  [
    'secrets',
    { metadata: metadata('cluster-login'), stringData: { password: planted.slurm, privateKey: key } },
  ],
  ['configmaps', { metadata: metadata('settings'), data: { 'app.conf': `x=${planted.ofConfigMap}` } }],
  [
    'pods',
    {
      metadata: metadata('web', {
        annotations: { note: `the password: ${planted.annotated}`, 'api-token': jwt },
      }),
      spec: {
        containers: [
          {
            name: 'c',
            image: 'x:1',
            readinessProbe: {
              httpGet: { port: 80, httpHeaders: [{ name: 'X-Access', value: planted.ofHeader }] },
            },
            args: ['--db-password', planted.argument, `--token=${planted.assigned}`, 'serve'],
            command: ['run', `postgres://app:${planted.inUrl}@db/x`, planted.slurm],
            env: [
              { name: 'GREETING', value: planted.literal },
              { name: 'DB', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
            ],
          },
        ],
      },
    },
  ],
  [
    'events',
    {
      metadata: metadata('e'),
      involvedObject: { kind: 'Pod', name: 'web', namespace: 'default' },
      message: `cannot log in with ${planted.ofSecret} or ${encodeURIComponent(planted.quoted)}`,
    },
  ],
];

describe('a support bundle', { timeout: 120_000 }, () => {
  let server: HttpsTestServer;
  let directory = '';
  let kubeconfig = '';
  let ended: Awaited<ReturnType<typeof runRoleCommand>>;
  let files: readonly string[] = [];

  before(async () => {
    server = await startHttpsTestServer();
    kubeconfig = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
    for (const [plural, body] of objects) {
      const answer = await server.call('POST', `/api/v1/namespaces/default/${plural}`, body);
      assert.equal(answer.status, 201, answer.text);
    }
    const token = {
      metadata: { name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': 'abcdef',
        'token-secret': planted.bootstrap,
        'usage-bootstrap-authentication': 'true',
      },
    };
    assert.equal((await server.call('POST', '/api/v1/namespaces/kube-system/secrets', token)).status, 201);
    const job = {
      metadata: { name: 'j' },
      spec: {
        connection: { secretName: 'cluster-login' },
        script: `#!/bin/sh\nlogin ${planted.slurm}\n`,
        environment: { GREETING: planted.ofJob },
      },
    };
    const made = await server.call('POST', '/apis/minik8s.io/v1/namespaces/default/slurmjobs', job);
    assert.equal(made.status, 201, made.text);
    const run = { metadata: { name: 'r' }, spec: { workflow: 'w', input: { customer: planted.ofInput } } };
    const begun = await server.call('POST', '/apis/minik8s.io/v1/namespaces/default/workflowruns', run);
    assert.equal(begun.status, 201, begun.text);
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });

    directory = join(server.directory, 'bundle');
    const dataDir = join(server.directory, 'data');
    for (const folder of [directory, dataDir]) mkdirSync(folder);
    const log = [
      `password=${planted.assigned} and ${planted.ofSecret}`,
      `authorization: Bearer ${jwt}`,
      `joined with abcdef.${planted.bootstrap}`,
      key,
      `base64 ${base64(planted.ofSecret)}`,
      'the last line of the log',
    ];
    // The bundle takes the last 2 MiB of the log, which begin within a secret; the name of the secret stands
    // before it.
    const kept = `${log.join('\n')}\n`;
    const cut = `password=begins-${planted.cut}\n`;
    const filling = 'x'.repeat(2 * 2 ** 20 - kept.length - planted.cut.length - 2);
    writeFileSync(join(dataDir, 'up.log'), `${cut}${filling}\n${kept}`);
    const file = join(directory, 'b.tar.gz');
    const args = ['-o', file, '--data-dir', dataDir];
    ended = await runRoleCommand('support-bundle', supportBundleCommand, kubeconfig, args);
    assert.equal(ended.status, 0, ended.err);
    assert.equal(ended.out, `${file}\n`);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    execFileSync('tar', ['-xzf', file, '-C', directory, '--strip-components=1']);
    files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !name.endsWith('.tar.gz') && statSync(join(directory, name)).isFile(),
    );
  });
  after(() => server.stop());

  const read = (name: string) => readFileSync(join(directory, name), 'utf8');

  for (const [where, secret] of Object.entries(planted)) {
    it(`does not contain the planted secret ${where} in any spelling`, () => {
      const spellings = [
        secret,
        base64(secret),
        encodeURIComponent(secret),
        JSON.stringify(secret).slice(1, -1),
      ];
      for (const name of files)
        for (const spelling of spellings)
          assert.ok(!read(name).includes(spelling), `${name} has ${spelling}`);
    });
  }

  it('has no credentials of the kubeconfig', () => {
    const config = readFileSync(kubeconfig, 'utf8');
    const data = /client-key-data"?: *"?([\w+/=]+)/.exec(config)?.[1] ?? '';
    assert.ok(data.length > 100);
    const lines = Buffer.from(data, 'base64')
      .toString()
      .split('\n')
      .filter((line) => /^[\w+/=]{40,}$/.test(line));
    assert.ok(lines.length > 0);
    for (const name of files)
      for (const line of [data, ...lines]) assert.ok(!read(name).includes(line), name);
  });

  it('has the data for diagnosis', () => {
    assert.match(read('about.txt'), /^minik8s \d/);
    assert.match(read('minik8s/minik8s.log'), /the last line of the log/);
    assert.match(read('cluster/pods.yaml'), /name: GREETING\n +value: \(left out\)/);
    assert.match(read('cluster/pods.yaml'), /- serve\n/);
    assert.match(read('cluster/pods.yaml'), /secretKeyRef:\n +key: password\n +name: db\n/);
    assert.match(read('cluster/secrets.yaml'), /password: \(left out\)/);
    assert.match(read('cluster/slurmjobs.yaml'), /secretName: cluster-login/);
    assert.match(read('cluster/events.yaml'), /cannot log in with \(left out\)/);
    assert.match(read('cluster/nodes.yaml'), /name: n1/);
    assert.match(read('machine/disk.txt'), /Filesystem/);
    assert.match(read('machine/meminfo.txt'), /MemTotal/);
    assert.match(read('docker/info.json'), /ServerVersion/);
    assert.ok(JSON.parse(read('cluster/version.json')).gitVersion);
  });

  it('names missing parts, with the reason', () => {
    const missing = read('missing.txt');
    assert.match(missing, /^minik8s\/command-line\.txt: minik8s does not run in /m);
    assert.match(missing, /^minik8s\/etcd\.log: \/.*\/etcd\/etcd\.log does not exist$/m);
    assert.equal(ended.err, missing.replaceAll(/^(?=.)/gm, 'not in the archive: '));
    assert.match(read('metrics/nodes.txt'), /n1: \/metrics\n# .*(has not reported|not connected)/);
  });

  it('is created while the API server is down, with the log before and after its rotation, without secrets', async () => {
    const dataDir = join(server.directory, 'down');
    mkdirSync(join(dataDir, 'etcd'), { recursive: true });
    const log = join(dataDir, 'own.log');
    const run = {
      ...{ process: '1 1', role: 'up', version: '0', startedAt: '2026-01-02T03:04:05Z', configFile: '/x' },
      log: { kind: 'rotated', path: log },
    };
    writeFileSync(join(dataDir, 'run.json'), JSON.stringify(run));
    writeFileSync(`${log}.1`, `before the rotation token=${planted.assigned}\n`);
    writeFileSync(log, `after the rotation, authorization: Bearer ${jwt}\n`);
    writeFileSync(join(dataDir, 'etcd/etcd.log'), `etcd password=${planted.slurm}\n`);
    const config = join(server.directory, 'down.conf');
    const text = readFileSync(kubeconfig, 'utf8').replace(/https:\/\/[\w.:]+/, 'https://127.0.0.1:1');
    writeFileSync(config, text);
    const file = join(directory, 'down.tar.gz');
    const from = performance.now();
    const args = ['-o', file, '--data-dir', dataDir];
    const { status, err } = await runRoleCommand('support-bundle', supportBundleCommand, config, args);
    assert.equal(status, 0, err);
    assert.ok(performance.now() - from < 60_000);
    assert.match(err, /not in the archive: cluster: .*cannot reach the API server/);
    const content = execFileSync('tar', ['-xzOf', file], { encoding: 'utf8', maxBuffer: 2 ** 28 });
    assert.match(content, /before the rotation[^\n]*\nafter the rotation/);
    assert.match(content, /^etcd password=/m);
    for (const secret of Object.values(planted)) assert.ok(!content.includes(secret), secret);
  });

  it('is refused for a file in a directory that does not exist, before anything is collected', async () => {
    const config = await server.kubeconfigFor('collector', ['system:masters']);
    const { status, err } = await runRoleCommand('support-bundle', supportBundleCommand, config, [
      ...['-o', '/nosuch/bundle.tar.gz'],
    ]);
    assert.notEqual(status, 0);
    assert.equal(
      err,
      'error: -o /nosuch/bundle.tar.gz: there is no directory /nosuch; create it, or name another file\n',
    );
  });

  it('contains nothing of a cluster whose Secrets cannot be read, and a message has the reason', async () => {
    const file = join(directory, 'stranger.tar.gz');
    const config = await server.kubeconfigFor('stranger', []);
    const { status, err } = await runRoleCommand('support-bundle', supportBundleCommand, config, [
      '-o',
      file,
    ]);
    assert.equal(status, 0);
    assert.match(
      err,
      /not in the archive: cluster: the cluster's Secrets cannot be read, so nothing of it is here: secrets is forbidden/,
    );
    const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' });
    assert.match(names, /machine\/disk\.txt/);
    assert.doesNotMatch(names, /cluster\//);
  });
});
