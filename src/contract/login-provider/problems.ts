import { type Text, text } from '../errors/text.js';

/** The steps of a login at a provider, in their order. */
export const providerSteps = ['start', 'login', 'return', 'exchange', 'account'] as const;
export type ProviderStep = (typeof providerSteps)[number];

interface ProviderProblemDefinition {
  /** The step at which it happens. */
  readonly step: ProviderStep;
  /** Whether the provider or the configuration is at fault, so that other people's logins fail too. Otherwise one login is at fault. */
  readonly isFault: boolean;
  /** The setting that may be wrong. */
  readonly setting: 'OIDC_PROVIDERS' | 'REDIRECT_URIS' | null;
  /** What happened. A part in square brackets appears only if its value is known. */
  readonly message: Text;
  /** What to do. */
  readonly remedy: Text;
}

const define = (
  step: ProviderStep,
  kind: 'fault' | 'person',
  setting: ProviderProblemDefinition['setting'],
  message: Text,
  remedy: Text,
): ProviderProblemDefinition => ({ step, isFault: kind === 'fault', setting, message, remedy });

/** What can go wrong in a login at a provider: for the console, and for the diagnosis of logins. */
export const providerProblems = {
  provider_unreachable: define(
    'exchange',
    'fault',
    'OIDC_PROVIDERS',
    text('The provider could not be reached[: {detail}].', 'No se pudo llegar al proveedor[: {detail}].'),
    text(
      'Check the addresses in OIDC_PROVIDERS, and that this machine can reach them. Calls to private networks need ALLOW_PRIVATE_NETWORK_TARGETS.',
      'Comprueba las direcciones de OIDC_PROVIDERS y que esta máquina puede llegar a ellas. Las llamadas a redes privadas necesitan ALLOW_PRIVATE_NETWORK_TARGETS.',
    ),
  ),
  metadata_invalid: define(
    'start',
    'fault',
    'OIDC_PROVIDERS',
    text(
      'What the provider says about itself cannot be used[: {detail}].',
      'Lo que el proveedor dice de sí mismo no se puede usar[: {detail}].',
    ),
    text(
      'Compare issuer in OIDC_PROVIDERS with the documentation of the provider, also the slash at the end.',
      'Compara issuer de OIDC_PROVIDERS con la documentación del proveedor, también la barra final.',
    ),
  ),
  access_denied: define(
    'login',
    'person',
    null,
    text('The person did not agree at the provider.', 'La persona no aceptó en el proveedor.'),
    text(
      'Nothing is wrong here. The person can begin again.',
      'Aquí no falla nada. La persona puede empezar de nuevo.',
    ),
  ),
  redirect_uri_rejected: define(
    'login',
    'fault',
    'OIDC_PROVIDERS',
    text(
      'The provider does not accept the redirect URI of this installation.',
      'El proveedor no acepta la URI de redirección de esta instalación.',
    ),
    text(
      'Copy the redirect URI, and add it to your app at the provider. PUBLIC_URL is its first part.',
      'Copia la URI de redirección y añádela a tu aplicación en el proveedor. PUBLIC_URL es su primera parte.',
    ),
  ),
  scope_rejected: define(
    'login',
    'fault',
    'OIDC_PROVIDERS',
    text('The provider does not grant the scopes that were asked for.', 'El proveedor no concede los ámbitos pedidos.'),
    text(
      'Change scopes in OIDC_PROVIDERS, or allow them for your app at the provider.',
      'Cambia scopes en OIDC_PROVIDERS, o permítelos a tu aplicación en el proveedor.',
    ),
  ),
  provider_error: define(
    'login',
    'fault',
    'OIDC_PROVIDERS',
    text('The provider answered with an error[: {detail}].', 'El proveedor respondió con un error[: {detail}].'),
    text(
      'Look up this error in the documentation of the provider, and check your app there.',
      'Busca este error en la documentación del proveedor y comprueba allí tu aplicación.',
    ),
  ),
  login_expired: define(
    'return',
    'person',
    null,
    text('The login took longer than 10 minutes.', 'El inicio de sesión tardó más de 10 minutos.'),
    text('The person begins again.', 'La persona empieza de nuevo.'),
  ),
  other_browser: define(
    'return',
    'person',
    null,
    text(
      'The login came back to another browser, or to one that refuses cookies.',
      'El inicio de sesión volvió a otro navegador, o a uno que rechaza las cookies.',
    ),
    text(
      'The person begins again, in one browser that accepts cookies of this site. If it happens to everybody, PUBLIC_URL is not the address under which people open this service.',
      'La persona empieza de nuevo, en un solo navegador que acepte las cookies de este sitio. Si le pasa a todo el mundo, PUBLIC_URL no es la dirección con la que se abre este servicio.',
    ),
  ),
  unknown_state: define(
    'return',
    'person',
    null,
    text(
      'A browser came back with a state that belongs to no login.',
      'Un navegador volvió con un state que no pertenece a ningún inicio de sesión.',
    ),
    text(
      'The login has ended long ago, or somebody opened a changed address. The person begins again.',
      'El inicio de sesión terminó hace tiempo, o alguien abrió una dirección cambiada. La persona empieza de nuevo.',
    ),
  ),
  redirect_not_allowed: define(
    'start',
    'person',
    'REDIRECT_URIS',
    text(
      'An app asked to return to an address that is not listed[: {detail}].',
      'Una aplicación pidió volver a una dirección que no está en la lista[: {detail}].',
    ),
    text(
      'If the app is yours, add this address to REDIRECT_URIS. It is compared as text, with the slash at the end.',
      'Si la aplicación es tuya, añade esta dirección a REDIRECT_URIS. Se compara como texto, con la barra final.',
    ),
  ),
  client_rejected: define(
    'exchange',
    'fault',
    'OIDC_PROVIDERS',
    text(
      'The provider does not accept the credentials of this installation[: {detail}].',
      'El proveedor no acepta las credenciales de esta instalación[: {detail}].',
    ),
    text(
      'Compare client_id and client_secret (for Apple the members of apple) in OIDC_PROVIDERS with your app at the provider. A secret may have expired.',
      'Compara client_id y client_secret (para Apple, los miembros de apple) de OIDC_PROVIDERS con tu aplicación en el proveedor. Un secreto puede haber caducado.',
    ),
  ),
  code_rejected: define(
    'exchange',
    'person',
    'OIDC_PROVIDERS',
    text('The provider refused its own code[: {detail}].', 'El proveedor rechazó su propio código[: {detail}].'),
    text(
      'The code was used or is too old: the person begins again. If it happens to everybody, compare the redirect URI with your app at the provider.',
      'El código ya se usó o es demasiado antiguo: la persona empieza de nuevo. Si le pasa a todo el mundo, compara la URI de redirección con tu aplicación en el proveedor.',
    ),
  ),
  token_invalid: define(
    'account',
    'fault',
    'OIDC_PROVIDERS',
    text(
      'The id_token of the provider is not valid[: {detail}].',
      'El id_token del proveedor no es válido[: {detail}].',
    ),
    text(
      'Compare issuer, client_id, client_ids and algorithms in OIDC_PROVIDERS with the provider, and check the clock of this machine.',
      'Compara issuer, client_id, client_ids y algorithms de OIDC_PROVIDERS con el proveedor, y comprueba el reloj de esta máquina.',
    ),
  ),
  tenant_not_listed: define(
    'account',
    'person',
    'OIDC_PROVIDERS',
    text(
      'The account belongs to a tenant that is not listed[: {detail}].',
      'La cuenta pertenece a un tenant que no está en la lista[: {detail}].',
    ),
    text(
      'If its accounts may log in, add it to tenants in OIDC_PROVIDERS.',
      'Si sus cuentas pueden iniciar sesión, añádelo a tenants en OIDC_PROVIDERS.',
    ),
  ),
  login_too_old: define(
    'account',
    'person',
    'OIDC_PROVIDERS',
    text(
      'The provider does not say that the person logged in there recently enough (auth_time).',
      'El proveedor no dice que la persona haya iniciado sesión allí hace poco (auth_time).',
    ),
    text(
      'The person logs out at the provider and begins again. If it happens to everybody, the provider does not support max_age: remove it from OIDC_PROVIDERS.',
      'La persona cierra la sesión en el proveedor y empieza de nuevo. Si le pasa a todo el mundo, el proveedor no admite max_age: quítalo de OIDC_PROVIDERS.',
    ),
  ),
  acr_missing: define(
    'account',
    'person',
    'OIDC_PROVIDERS',
    text(
      'The provider does not say that the login there was strong enough (acr[: {detail}]).',
      'El proveedor no dice que el inicio de sesión allí fuera lo bastante fuerte (acr[: {detail}]).',
    ),
    text(
      'The person logs in at the provider with the second factor that acr_values asks for. If it happens to everybody, compare acr_values in OIDC_PROVIDERS with the provider.',
      'La persona inicia sesión en el proveedor con el segundo factor que pide acr_values. Si le pasa a todo el mundo, compara acr_values de OIDC_PROVIDERS con el proveedor.',
    ),
  ),
  account_unreadable: define(
    'account',
    'fault',
    'OIDC_PROVIDERS',
    text(
      'The account could not be read from the answer of the provider[: {detail}].',
      'No se pudo leer la cuenta en la respuesta del proveedor[: {detail}].',
    ),
    text(
      'Compare userinfo_endpoint, map and scopes in OIDC_PROVIDERS with the documentation of the provider.',
      'Compara userinfo_endpoint, map y scopes de OIDC_PROVIDERS con la documentación del proveedor.',
    ),
  ),
  not_linked: define(
    'account',
    'person',
    'OIDC_PROVIDERS',
    text(
      'Somebody logged in with an account that no user has linked.',
      'Alguien inició sesión con una cuenta que ningún usuario ha vinculado.',
    ),
    text(
      'The person logs in as before and links the account, or an operator links it. sign_up in OIDC_PROVIDERS makes users of such accounts.',
      'La persona inicia sesión como antes y vincula la cuenta, o la vincula un operador. sign_up en OIDC_PROVIDERS crea usuarios con esas cuentas.',
    ),
  ),
} as const satisfies Record<string, ProviderProblemDefinition>;
export type ProviderProblemCode = keyof typeof providerProblems;

/** What is missing so that a provider can take logins by redirect. */
export const providerGaps = {
  public_url: text(
    'PUBLIC_URL is missing: it is the first part of the redirect URI.',
    'Falta PUBLIC_URL: es la primera parte de la URI de redirección.',
  ),
  client_id: text(
    'client_id of this provider is missing in OIDC_PROVIDERS. Until then it takes only id_tokens of apps.',
    'Falta client_id de este proveedor en OIDC_PROVIDERS. Hasta entonces solo acepta id_tokens de aplicaciones.',
  ),
  redirect_uris: text(
    'REDIRECT_URIS is missing: it lists the addresses of your apps to which logins return.',
    'Falta REDIRECT_URIS: es la lista de direcciones de tus aplicaciones a las que vuelven los inicios de sesión.',
  ),
  login_methods: text(
    'LOGIN_METHODS does not list this provider, so logins with it are closed.',
    'LOGIN_METHODS no incluye este proveedor, así que sus inicios de sesión están cerrados.',
  ),
} as const satisfies Record<string, Text>;
export type ProviderGap = keyof typeof providerGaps;
