/** Reads the certificates in the data directory. */
import { X509Certificate } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CertificateFacts, CertificatesFacts } from '../checks/certificates.ts';
import type { Sources } from './sources.ts';

/** Folders of the data directory with certificates: of a control plane, and of a node that has joined. */
const folders = ['pki', 'pki/front-proxy', 'node'];

export async function readCertificates({ situation }: Sources): Promise<CertificatesFacts> {
  const certificates: CertificateFacts[] = [];
  const damaged: string[] = [];
  for (const folder of folders) {
    for (const path of await certificateFiles(join(situation.dataDir, folder))) {
      const read = parse(path, await readFile(path, 'utf8'));
      if (read) certificates.push(read);
      else damaged.push(path);
    }
  }
  return { certificates, damaged };
}

async function certificateFiles(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => name.endsWith('.crt'))
    .sort()
    .map((name) => join(directory, name));
}

function parse(path: string, text: string): CertificateFacts | undefined {
  try {
    const { ca, validFrom, validTo, subjectAltName = '' } = new X509Certificate(text);
    return {
      path,
      isAuthority: ca,
      notBefore: Date.parse(validFrom),
      notAfter: Date.parse(validTo),
      hosts: subjectAltName.split(', ').map((name) => name.replace(/^(?:DNS|IP Address):/, '')),
    };
  } catch {
    return undefined;
  }
}
