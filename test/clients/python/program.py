"""Uses a running Postern through the generated client. Any wrong or untyped answer ends it with an error."""

import os
from base64 import b64encode
from uuid import UUID, uuid4

from postern_client import AuthenticatedClient, Client
from postern_client.api.administration import create_user, publish_notification, publish_notifications
from postern_client.api.notifications import get_notification_page, list_notifications
from postern_client.api.sessions import create_session, get_session
from postern_client.api.tokens import create_token
from postern_client.models import (
    Authentication,
    AuthenticationErrorCode,
    AuthenticationStatus,
    DeviceInput,
    Identity,
    IdentityType,
    NewNotification,
    NewSession,
    NewUser,
    Notification,
    NotificationInput,
    NotificationPage,
    Problem,
    Session,
    TokenRequest,
    User,
)

url = os.environ["POSTERN_URL"]
admin = AuthenticatedClient(base_url=url, token=os.environ["ADMIN_API_KEY"])
username = f"python-{uuid4().hex[:12]}"
password = "a battery of horses"

user = create_user.sync(client=admin, body=NewUser(username=username, password=password))
assert isinstance(user, User) and user.lock is None, user

login = TokenRequest(
    identity=Identity(type_=IdentityType.USERNAME, value=username),
    authenticator="password",
    secret=password,
    device=DeviceInput(make="Test", screen_width=1179, screen_height="2556"),
)
authentication = create_token.sync(client=Client(base_url=url), body=login)
assert isinstance(authentication, Authentication), authentication
assert authentication.status is AuthenticationStatus.APPROVED, authentication
assert authentication.error_code is AuthenticationErrorCode.NONE, authentication

basic = b64encode(f"{authentication.token}:".encode()).decode()
session = create_session.sync(client=AuthenticatedClient(base_url=url, token=basic, prefix="Basic"))
assert isinstance(session, NewSession), session
client = AuthenticatedClient(base_url=url, token=session.token)
checked = get_session.sync(client=client)
assert isinstance(checked, Session) and checked.user_id == user.id, checked

item = NewNotification(user_id=str(user.id), notification_type="payment", description="1", object_data_number=12.5)
published = publish_notification.sync(client=admin, body=item)
assert isinstance(published, Notification) and isinstance(published.id, UUID), published
listed = list_notifications.sync(client=client)
assert isinstance(listed, list) and [one.id for one in listed] == [published.id], listed
assert listed[0].image is None and listed[0].object_data_number == 12.5, listed[0]

more = [NotificationInput(user_id=str(user.id), notification_type="pool", description=str(n)) for n in range(2, 46)]
batch = publish_notifications.sync(client=admin, body=more)
assert isinstance(batch, list) and len(batch) == 44, batch
seen: list[str] = []
page = get_notification_page.sync(client=client)
while isinstance(page, NotificationPage):
    seen += [one.description for one in page.data]
    if page.page.next_cursor is None:
        break
    page = get_notification_page.sync(client=client, cursor=page.page.next_cursor)
assert seen == [str(n) for n in range(45, 0, -1)], seen

item.description = ""
invalid = publish_notification.sync(client=admin, body=item)
assert isinstance(invalid, Problem) and invalid.status == 422, invalid
assert [(one.field, one.code) for one in invalid.errors] == [("description", "required")], invalid
unauthorized = get_session.sync(client=AuthenticatedClient(base_url=url, token="wrong"))
assert isinstance(unauthorized, Problem) and unauthorized.status == 401, unauthorized

print(f"logged in, published 45, read {len(seen)} in pages, an image that is None, problems 422 and 401")
