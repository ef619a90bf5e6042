import { readTable } from '../table.ts';

/** Private keys of blockchains, in the encodings that wallets export. */
export const chains = readTable(`
  Aleo                      APrivateKey1<alnum:47>  https://developer.aleo.org/concepts/fundamentals/accounts  -
  Aptos                     <ed25519|secp256k1>-priv-0x<hex:64>  https://github.com/aptos-foundation/AIPs/blob/main/aips/aip-80.md  -
  Cardano                   <addr|root|acct|stake>_xsk1<lower:100-220> <addr|stake|payment>_sk1<lower:58-64>  https://cips.cardano.org/cip/CIP-5  -
  EOS                       PVT_<K1|R1>_<alnum:49-51>  https://docs.eosnetwork.com/  -
  Extended private keys     <xprv|yprv|zprv|tprv><alnum:107>  https://github.com/bitcoin/bips/blob/master/bip-0032.mediawiki  -
  Hedera                    302e020100300506032b657004220420<hex:64>  https://docs.hedera.com/hedera/sdks-and-apis/sdks/keys  -
  NEAR                      ed25519:<alnum:86-88>  https://docs.near.org/protocol/access-keys  -
  Nostr                     nsec1<lower:58>  https://github.com/nostr-protocol/nips/blob/master/19.md  -
  Sui                       suiprivkey1<lower:59>  https://docs.sui.io/concepts/cryptography/transaction-auth/keys-addresses  -
  Tezos                     edsk<alnum:50> edsk<alnum:94> edesk<alnum:83>  https://tezos.gitlab.io/user/key-management.html  -
`);
