// Uses a running Postern through the generated client. Any wrong or untyped answer ends it with an error.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"postern.example/client/postern"
)

const password = "a battery of horses"

var background = context.Background()

func main() {
	admin := clientWith("Bearer " + os.Getenv("ADMIN_API_KEY"))
	username := "go-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	user := createUser(admin, username)
	client := logIn(username)
	first := publishOne(admin, client, user)
	read := readPages(admin, client, user)
	expectProblems(admin, first)
	fmt.Printf("logged in, published 45, read %d in pages, an image that is nil, problems 422 and 401\n", read)
}

func clientWith(authorization string) *postern.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		if authorization != "" {
			request.Header.Set("Authorization", authorization)
		}
		return nil
	}
	return must(postern.NewClientWithResponses(os.Getenv("POSTERN_URL"), postern.WithRequestEditorFn(authorize)))
}

func createUser(admin *postern.ClientWithResponses, username string) *postern.User {
	body := postern.NewUser{Username: &username, Password: new(string)}
	*body.Password = password
	answer := must(admin.CreateUserWithResponse(background, nil, body))
	check(answer.JSON201 != nil && answer.JSON201.Lock == nil, string(answer.Body))
	return answer.JSON201
}

func logIn(username string) *postern.ClientWithResponses {
	secret := password
	var width, height postern.ScreenSize
	check(width.FromScreenSizeNumber(1179) == nil && height.FromScreenSizeString("2556") == nil, "screen size")
	answer := must(clientWith("").CreateTokenWithResponse(background, nil, postern.TokenRequest{
		Authenticator: "password",
		Secret:        &secret,
		Identity:      &postern.Identity{Type: postern.IdentityTypeUsername, Value: username},
		Device:        postern.DeviceInput{ScreenWidth: &width, ScreenHeight: &height},
	}))
	check(answer.JSON201 != nil && answer.JSON201.Token != nil, string(answer.Body))
	check(answer.JSON201.Status == postern.AuthenticationStatusApproved, string(answer.Body))
	check(answer.JSON201.ErrorCode == postern.AuthenticationErrorCodeNone, string(answer.Body))
	basic := base64.StdEncoding.EncodeToString([]byte(*answer.JSON201.Token + ":"))
	session := must(clientWith("Basic "+basic).CreateSessionWithResponse(background, nil))
	check(session.JSON201 != nil, string(session.Body))
	return clientWith("Bearer " + session.JSON201.Token)
}

func publishOne(admin, client *postern.ClientWithResponses, user *postern.User) postern.NewNotification {
	amount := 12.5
	item := postern.NewNotification{
		UserId: user.Id.String(), NotificationType: "payment", Description: "1", ObjectDataNumber: &amount,
	}
	published := must(admin.PublishNotificationWithResponse(background, nil, item))
	check(published.JSON201 != nil, string(published.Body))
	listed := must(client.ListNotificationsWithResponse(background, nil))
	check(listed.JSON200 != nil && len(*listed.JSON200) == 1, string(listed.Body))
	one := (*listed.JSON200)[0]
	check(one.Id == published.JSON201.Id && one.Image == nil && *one.ObjectDataNumber == amount, string(listed.Body))
	return item
}

func readPages(admin, client *postern.ClientWithResponses, user *postern.User) int {
	id := user.Id.String()
	var items []postern.NotificationInput
	for n := 2; n <= 45; n++ {
		items = append(items, postern.NotificationInput{
			UserId: &id, NotificationType: "pool", Description: strconv.Itoa(n),
		})
	}
	batch := must(admin.PublishNotificationsWithResponse(background, nil, items))
	check(batch.JSON201 != nil && len(*batch.JSON201) == len(items), string(batch.Body))
	read := 0
	params := postern.GetNotificationPageParams{}
	for {
		answer := must(client.GetNotificationPageWithResponse(background, &params))
		check(answer.JSON200 != nil, string(answer.Body))
		for _, one := range answer.JSON200.Data {
			check(one.Description == strconv.Itoa(45-read), one.Description)
			read++
		}
		if params.Cursor = answer.JSON200.Page.NextCursor; params.Cursor == nil {
			check(read == 45, strconv.Itoa(read))
			return read
		}
	}
}

func expectProblems(admin *postern.ClientWithResponses, item postern.NewNotification) {
	item.Description = ""
	invalid := must(admin.PublishNotificationWithResponse(background, nil, item))
	check(invalid.ApplicationproblemJSON422 != nil, string(invalid.Body))
	problem := postern.Problem(*invalid.ApplicationproblemJSON422)
	check(problem.Status == 422 && len(problem.Errors) == 1, string(invalid.Body))
	check(*problem.Errors[0].Field == "description" && problem.Errors[0].Code == "required", string(invalid.Body))
	unauthorized := must(clientWith("Bearer wrong").GetSessionWithResponse(background, nil))
	check(unauthorized.ApplicationproblemJSON401 != nil, string(unauthorized.Body))
}

func must[Value any](value Value, err error) Value {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func check(holds bool, seen string) {
	if !holds {
		log.Panic("not as described: ", seen)
	}
}
